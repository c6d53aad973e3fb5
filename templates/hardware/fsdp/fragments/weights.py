from collections import OrderedDict

from torch.distributed.checkpoint import state_dict as dcp

#: replace weights
# gathered from all processes, in the CPU memory of the main process; accelerator.save() finds
# weights that several layers share only in an OrderedDict
options = dcp.StateDictOptions(full_state_dict=True, cpu_offload=True)
weights = OrderedDict(dcp.get_model_state_dict(model, options=options))
