from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear

#: slot functions
def takes_adapter(layer: nn.Module) -> bool:
    """Whether the layer is linear, or a convolution without groups.

    Not the output projection of PyTorch's attention, whose weights are used without calling it.
    """
    if isinstance(layer, nn.Conv2d):
        return layer.groups == 1
    return isinstance(layer, nn.Linear) and not isinstance(layer, NonDynamicallyQuantizableLinear)

#: slot layers
parts = dict(model.named_modules())
layers = [name for name, part in parts.items() if takes_adapter(part) and "head" not in name]
norms = [name for name, part in parts.items() if isinstance(part, _BatchNorm)]

#: slot settings
modules_to_save=["head", *norms],
