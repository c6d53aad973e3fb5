#: slot choose_weights
if not weights.exists():  # the run has not ended: its best weights so far
    weights = folder / "best.safetensors"
