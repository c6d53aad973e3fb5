#: slot fsdp_settings
auto_wrap_policy="transformer_based_wrap",  # wrap the layers that the model names
