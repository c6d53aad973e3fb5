#: slot fsdp_settings
backward_prefetch={{ fsdp.backward_prefetch | python }},
