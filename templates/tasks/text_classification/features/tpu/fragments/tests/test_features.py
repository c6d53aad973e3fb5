#: replace lengths
assert small["input_ids"].shape[1] == large["input_ids"].shape[1] == config.max_length
