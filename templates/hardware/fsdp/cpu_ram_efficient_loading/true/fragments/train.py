from workarounds import has_device

#: slot fsdp_settings
cpu_ram_efficient_loading=has_device(),
