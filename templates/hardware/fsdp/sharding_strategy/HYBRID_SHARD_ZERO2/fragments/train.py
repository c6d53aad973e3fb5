#: slot fsdp_settings
reshard_after_forward={{ fsdp.sharding_strategy | python }},
