#: slot fsdp_settings
cpu_offload=True,
