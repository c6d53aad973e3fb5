#: slot deepspeed_settings
offload_param_device={{ deepspeed.offload_param_device | python }},
