from data import build_loaders

#: slot free
FREE = (0, 1, 2)  # the dimensions of inputs whose size may change: samples, choices and tokens

#: slot functions
def read_inputs(config: Config) -> Inputs:
    """What the model takes of the first batch of the test data."""
    *inputs, _ = next(iter(build_loaders(config)[2]))
    return tuple(inputs)

#: slot batches
batches.append(tuple(values[:1, :2, : (values.shape[2] + 1) // 2] for values in inputs))  # less
