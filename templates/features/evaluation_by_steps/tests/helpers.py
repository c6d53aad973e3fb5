#: slot settings
"evaluate_every": 6,
