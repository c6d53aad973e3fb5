#: slot fsdp_settings
sync_module_states=True,
