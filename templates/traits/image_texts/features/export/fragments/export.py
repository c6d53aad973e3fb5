from data import build_loaders

#: slot free
FREE = (0,), (0, 1), (0, 1)  # dynamic dimensions of images, tokens and mask

#: slot functions
def read_inputs(config: Config) -> Inputs:
    """The model inputs of the first test batch."""
    return next(iter(build_loaders(config)[2]))[:3]

#: replace sizes
shapes = tuple(dict.fromkeys(free, torch.export.Dim.DYNAMIC) for free in FREE)
return torch.export.export(model, inputs, dynamic_shapes=shapes)

#: slot batches
images, tokens, mask = (values[:1] for values in inputs)
half = (tokens.shape[1] + 1) // 2
batches.append((images, tokens[:, :half], mask[:, :half]))  # half a text
