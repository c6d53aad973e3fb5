#: slot settings
"num_workers": 1,
