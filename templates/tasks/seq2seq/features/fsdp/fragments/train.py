from torch.distributed.fsdp import register_fsdp_forward_method

#: slot after_prepare
register_fsdp_forward_method(model, "generate")  # it gathers weights, too
