#: slot settings
"mixing_probability": 0.0,  # 2 processes would mix differently than one
