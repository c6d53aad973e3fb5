#: slot settings
"patience": 0,
