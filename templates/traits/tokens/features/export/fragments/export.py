from data import build_loaders

#: slot free
FREE = (0, 1)  # dynamic dimensions of the inputs: samples and tokens

#: slot functions
def read_inputs(config: Config) -> Inputs:
    """The model inputs of the first test batch."""
    *inputs, _ = next(iter(build_loaders(config)[2]))
    return tuple(inputs)

#: slot batches
batches.append(tuple(values[:1, : (values.shape[1] + 1) // 2] for values in inputs))  # half a text
