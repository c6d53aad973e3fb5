#: slot deepspeed_settings
offload_optimizer_device={{ deepspeed.offload_optimizer_device | python }},
