from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict

#: slot setup
if config.resume:  # load_state() fills what the optimizer has: before a step that is nothing
    get_optimizer_state_dict(model, optimizer)
