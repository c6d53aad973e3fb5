from safetensors.torch import load_file
from torch import Tensor

#: slot chosen_weights
weights = trained_weights(accelerator.unwrap_model(model), weights)

#: slot functions
def trained_weights(model: nn.Module, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The trained weights of a model, with the running statistics of their layers."""
    names = {name for name, weight in model.named_parameters() if weight.requires_grad}
    return {
        name: weight
        for name, weight in weights.items()
        if name in names or ".modules_to_save." in name
    }


def load_adapters(model: nn.Module, path: Path) -> None:
    """Load the trained weights of a model with adapters. RuntimeError if they do not fit."""
    weights = load_file(path)
    if odd := weights.keys() ^ trained_weights(model, model.state_dict()).keys():
        raise RuntimeError(f"{len(odd)} weights are only in one of them, such as {min(odd)}")
    model.load_state_dict(weights, strict=False)  # without the frozen ones

#: replace options with best_model with fsdp
# each process takes its part; frozen weights are not saved
options = dcp.StateDictOptions(full_state_dict=True, strict=False)

#: slot load_weights with best_model without fsdp
load_adapters(accelerator.unwrap_model(model), path)
