#: slot fsdp_settings
auto_wrap_policy="transformer_based_wrap",  # the classes of layers that the model names
