#: slot settings
"mixed_precision": "no",  # in 16 bits, equal runs are only roughly equal
