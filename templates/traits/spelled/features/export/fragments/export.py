from data import build_loaders

#: slot free
FREE = (0, 1)  # dynamic dimensions of the inputs: samples, and their lengths

#: slot functions
def read_inputs(config: Config) -> Inputs:
    """The model inputs of the first test batch, the longest sound first."""
    inputs, lengths, *_ = next(iter(build_loaders(config)[2]))
    order = lengths.argsort(descending=True)
    return inputs[order], lengths[order]

#: replace sizes
sizes = dict.fromkeys(FREE, torch.export.Dim.DYNAMIC)
shapes = tuple({dim: sizes[dim] for dim in FREE[: values.dim()]} for values in inputs)
return torch.export.export(model, inputs, dynamic_shapes=shapes)

#: slot batches
batches.append(tuple(values[1:2] for values in inputs))
