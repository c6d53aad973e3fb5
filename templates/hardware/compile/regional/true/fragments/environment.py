from torch import nn

#: slot functions
def compile_layers(model: nn.Module, **settings) -> None:
    """Compile the layers of each list of layers: the code of the first serves all of them."""
    lists = [part for part in model.modules() if isinstance(part, nn.ModuleList)]
    if not lists:
        raise SystemExit("The model has no list of layers: set compile.regional to false.")
    for layers in lists:
        for layer in layers:
            layer.compile(**settings)
