from data import build_loaders

#: replace export_free
FREE = (0,)  # dynamic dimensions of the inputs: samples

#: replace export_functions
def read_inputs(config: Config) -> Inputs:
    """The model inputs of the first test batch."""
    inputs, lengths, _ = next(iter(build_loaders(config)[2]))
    return inputs, lengths
