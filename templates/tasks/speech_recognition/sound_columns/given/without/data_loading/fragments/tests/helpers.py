#: slot settings
"num_workers": 0,  # starting them takes longer than a test
