from workarounds import has_device

#: slot fsdp_settings
sync_module_states=has_device(),
