#: slot settings
"gradient_compression": "no",  # rounding would hide differences between runs
