#: slot deepspeed_settings
offload_param_nvme_path={{ deepspeed.offload_param_nvme_path | python }},
