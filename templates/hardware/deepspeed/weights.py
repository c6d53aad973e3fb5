import re

from safetensors.torch import load_file
from torch import Tensor

#: replace weights
weights = accelerator.get_state_dict(model)

#: slot load_weights with best_model
from deepspeed import zero  # takes seconds to import

weights = read_weights(path, accelerator.unwrap_model(model))
# gathers the parts of stage 3; the weights that the main process loads are sent to all
with zero.GatheredParameters(list(model.parameters()), modifier_rank=0):
    accelerator.unwrap_model(model).load_state_dict(weights)

#: slot functions with best_model
def read_weights(path: Path, model: nn.Module) -> dict[str, Tensor]:
    """Read the saved weights. If several layers share a weight, it is saved under one name only."""
    weights = load_file(path)
    names: dict[nn.Parameter, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        name = re.sub(r"_checkpoint_wrapped_module\.", "", name)
        names.setdefault(parameter, []).append(name)
    for group in names.values():
        for saved in weights.keys() & group:
            weights |= dict.fromkeys(group, weights[saved])
    return weights
