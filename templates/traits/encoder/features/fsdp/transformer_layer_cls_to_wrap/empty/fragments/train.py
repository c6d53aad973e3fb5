#: slot fsdp_settings
auto_wrap_policy="transformer_based_wrap",  # wrap the layer classes that the model names
