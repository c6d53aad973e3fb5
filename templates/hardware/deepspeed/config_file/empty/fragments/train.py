#: slot deepspeed_settings
zero_stage={{ deepspeed.zero_stage | python }},
