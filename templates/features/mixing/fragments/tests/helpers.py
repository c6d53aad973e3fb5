#: slot settings
"mixing_probability": 0.0,  # 2 processes draw other mixtures than one
