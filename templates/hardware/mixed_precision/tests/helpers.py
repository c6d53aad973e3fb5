#: slot settings
"mixed_precision": "no",  # in 16 bits, results match only roughly
