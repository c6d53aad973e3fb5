from data import build_loaders

#: slot free
FREE = (0, 1)  # dynamic dimensions of the inputs: texts and tokens

#: slot functions
def read_inputs(config: Config) -> Inputs:
    """The model inputs of the first test batch."""
    tokens, mask, _ = next(iter(build_loaders(config)[2]))
    return tokens.flatten(0, 1), mask.flatten(0, 1)

#: slot batches
batches.append(tuple(values[:1, : (values.shape[1] + 1) // 2] for values in inputs))  # half a text
