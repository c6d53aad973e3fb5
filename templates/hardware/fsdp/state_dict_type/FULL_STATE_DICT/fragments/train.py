#: slot fsdp_settings
state_dict_type="FULL_STATE_DICT",
