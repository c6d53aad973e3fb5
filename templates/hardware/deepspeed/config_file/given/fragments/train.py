#: slot deepspeed_settings
hf_ds_config={{ deepspeed.config_file | python }},
