import re

from safetensors.torch import load_file
from torch import Tensor
from torch.distributed.checkpoint import state_dict as dcp

#: slot load_weights
#: region options
options = dcp.StateDictOptions(full_state_dict=True)  # each process takes its part
#: end options
dcp.set_model_state_dict(model, read_weights(path, accelerator.unwrap_model(model)), options=options)

#: slot functions
def read_weights(path: Path, model: nn.Module) -> dict[str, Tensor]:
    """Read the saved weights. If several layers share a weight, it is saved under one name only."""
    weights = load_file(path)
    names: dict[nn.Parameter, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        name = re.sub(r"_fsdp_wrapped_module\.|_checkpoint_wrapped_module\.", "", name)
        names.setdefault(parameter, []).append(name)
    for group in names.values():
        for saved in weights.keys() & group:
            weights |= dict.fromkeys(group, weights[saved])
    return weights
