#: slot drawn
defined = drawn["map"] >= 0  # it is -1 if a resample has no object
if defined.any():
    drawn = {name: values[defined] for name, values in drawn.items()}
