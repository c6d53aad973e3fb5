#: slot fsdp_settings
cpu_ram_efficient_loading=True,
