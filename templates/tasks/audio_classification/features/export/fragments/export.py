from data import build_loaders

#: slot free
FREE = (0,)  # dynamic dimensions of the inputs: samples

#: slot functions
def read_inputs(config: Config) -> Inputs:
    """The model inputs of the first test batch."""
    inputs, lengths, _ = next(iter(build_loaders(config)[2]))
    return inputs, lengths
