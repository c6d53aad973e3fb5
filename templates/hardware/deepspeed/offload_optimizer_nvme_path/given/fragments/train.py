#: slot deepspeed_settings
offload_optimizer_nvme_path={{ deepspeed.offload_optimizer_nvme_path | python }},
