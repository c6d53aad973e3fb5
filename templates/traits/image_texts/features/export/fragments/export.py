from data import build_loaders

#: slot free
FREE = (0,), (0, 1), (0, 1)  # dimensions whose size may change: of images, of tokens, of their mask

#: slot functions
def read_inputs(config: Config) -> Inputs:
    """What the model takes of the first batch of the test data."""
    return next(iter(build_loaders(config)[2]))[:3]

#: replace sizes
shapes = tuple(dict.fromkeys(free, torch.export.Dim.DYNAMIC) for free in FREE)
return torch.export.export(model, inputs, dynamic_shapes=shapes)

#: slot batches
images, tokens, mask = (values[:1] for values in inputs)
half = (tokens.shape[1] + 1) // 2
batches.append((images, tokens[:, :half], mask[:, :half]))  # half a text
