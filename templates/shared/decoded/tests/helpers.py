#: with decoded
#: slot settings without data_loading
"num_workers": 0,  # starting workers takes longer than a test
