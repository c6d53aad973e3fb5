from data import build_loaders

#: replace export_free
FREE = (0, 1)  # dynamic dimensions of the inputs: samples and tokens

#: replace export_functions
def read_inputs(config: Config) -> Inputs:
    """The model inputs of the first test batch."""
    tokens, mask, types, *_ = next(iter(build_loaders(config)[2]))
    return tokens, mask, types

#: slot batches
batches.append(tuple(values[:1, : (values.shape[1] + 1) // 2] for values in inputs))  # half a text
