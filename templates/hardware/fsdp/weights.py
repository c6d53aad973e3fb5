import re
from collections import OrderedDict

from safetensors.torch import load_file
from torch import Tensor
from torch.distributed.checkpoint import state_dict as dcp

#: replace weights
# gathered from all processes, in the CPU memory of the main process; accelerator.save() finds
# weights that several layers share only in an OrderedDict
options = dcp.StateDictOptions(full_state_dict=True, cpu_offload=True)
weights = OrderedDict(dcp.get_model_state_dict(model, options=options))

#: slot load_weights with best_model
#: region options
options = dcp.StateDictOptions(full_state_dict=True)  # each process takes its part
#: end options
dcp.set_model_state_dict(model, read_weights(path, accelerator.unwrap_model(model)), options=options)

#: slot functions with best_model
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
