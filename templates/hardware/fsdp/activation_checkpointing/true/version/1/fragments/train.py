#: slot fsdp_settings
activation_checkpointing=True,
