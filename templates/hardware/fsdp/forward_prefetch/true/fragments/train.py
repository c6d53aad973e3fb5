#: slot fsdp_settings
forward_prefetch=True,
