from data import build_loaders

#: replace export_free
FREE = (0, 1)  # dynamic dimensions of the inputs: samples and tokens

#: replace export_functions
def read_inputs(config: Config) -> Inputs:
    """What the model takes of the first batch of the test data: conversations."""
    inputs, *_ = next(iter(build_loaders(config)[2]))
    return (inputs.flatten(0, 1),)

#: slot batches
batches.append(tuple(values[:1, : (values.shape[1] + 1) // 2] for values in inputs))  # half a text
