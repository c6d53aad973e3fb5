#: slot saved
saved.remove("checksums.json")  # config.json differs
