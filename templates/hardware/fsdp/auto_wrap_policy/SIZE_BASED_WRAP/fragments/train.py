#: slot fsdp_settings
auto_wrap_policy="size_based_wrap",
min_num_params={{ fsdp.min_num_params | python }},
