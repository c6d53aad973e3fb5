from torch.nn.modules.batchnorm import _BatchNorm

#: slot functions
def takes_adapter(layer: nn.Module) -> bool:
    """Whether the layer is linear, or a convolution without groups."""
    return isinstance(layer, nn.Linear) or isinstance(layer, nn.Conv2d) and layer.groups == 1


#: slot layers
inner = model.model
start = f"{inner.base_model_prefix or 'backbone'}."  # the part with pretrained weights
parts = {
    name: part
    for name, part in inner.named_modules()
    if any(weight.requires_grad for weight in part.parameters(recurse=False))
}
layers = [name for name, part in parts.items() if name.startswith(start) and takes_adapter(part)]
trained = [
    name
    for name, part in parts.items()
    if not name.startswith(start) or isinstance(part, _BatchNorm)
]

#: slot settings
modules_to_save=trained,
