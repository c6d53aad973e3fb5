#: slot deepspeed_settings
zero3_save_16bit_model=True,  # gathers the final weights
zero3_init_flag={{ deepspeed.zero3_init_flag | python }},
