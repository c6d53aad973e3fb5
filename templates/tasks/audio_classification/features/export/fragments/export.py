from data import build_loaders

#: slot free
FREE = (0,)  # the dimensions of inputs whose size may change: samples

#: slot functions
def read_inputs(config: Config) -> Inputs:
    """What the model takes of the first batch of the test data."""
    inputs, lengths, _ = next(iter(build_loaders(config)[2]))
    return inputs, lengths
