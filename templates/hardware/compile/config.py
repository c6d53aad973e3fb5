from torch import nn

#: slot functions when regional=true
def compile_layers(model: nn.Module, **settings) -> None:
    """Compile each layer in a list of layers; they share the compiled code of the first."""
    lists = [part for part in model.modules() if isinstance(part, nn.ModuleList)]
    if not lists:
        raise SystemExit("The model has no list of layers: set compile.regional to false.")
    for layers in lists:
        for layer in layers:
            layer.compile(**settings)
