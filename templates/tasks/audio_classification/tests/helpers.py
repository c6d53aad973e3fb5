#: slot settings when dataset=files without data_loading
"num_workers": 0,  # starting workers takes longer than a test
