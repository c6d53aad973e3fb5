from data import build_loaders

#: replace export_free
FREE = (0, 1, 2)  # dynamic dimensions of the inputs: samples, choices and tokens

#: replace export_functions
def read_inputs(config: Config) -> Inputs:
    """The model inputs of the first test batch."""
    *inputs, _ = next(iter(build_loaders(config)[2]))
    return tuple(inputs)

#: slot batches
batches.append(tuple(values[:1, :2, : (values.shape[2] + 1) // 2] for values in inputs))  # less
