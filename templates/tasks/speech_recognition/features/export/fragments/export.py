from data import build_loaders

#: slot free
FREE = (0, 1)  # the dimensions of inputs whose size may change: samples, and their lengths

#: slot functions
def read_inputs(config: Config) -> Inputs:
    """What the model takes of the first batch of the test data, the longest sound first."""
    inputs, lengths, *_ = next(iter(build_loaders(config)[2]))
    order = lengths.argsort(descending=True)
    return inputs[order], lengths[order]

#: replace sizes
sizes = dict.fromkeys(FREE, torch.export.Dim.DYNAMIC)
shapes = tuple({dim: sizes[dim] for dim in FREE[: values.dim()]} for values in inputs)
return torch.export.export(model, inputs, dynamic_shapes=shapes)

#: slot batches
batches.append(tuple(values[1:2] for values in inputs))
