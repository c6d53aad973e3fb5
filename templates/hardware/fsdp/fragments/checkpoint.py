from collections import OrderedDict

from torch.distributed.checkpoint import state_dict as dcp

#: replace weights
# put together from all processes, in the memory of the main one's CPU; save() looks for weights
# that two layers share, which can't be saved twice, in an OrderedDict alone
options = dcp.StateDictOptions(full_state_dict=True, cpu_offload=True)
weights = OrderedDict(dcp.get_model_state_dict(model, options=options))

#: replace load_weights
def load_weights(accelerator: Accelerator, model, path: Path) -> None:
    """Load what save_weights saved, into the prepared model. All processes call it together."""
    ...  #: slot load_weights
    # each process takes its part; not strict: weights that two layers share may be saved once
    options = dcp.StateDictOptions(full_state_dict=True, strict=False)
    dcp.set_model_state_dict(model, weights, options=options)


