#: slot fsdp_settings
reshard_after_forward=False,  # a layer keeps its weights until its backward pass
