from sharded_metadata import only_data

#: wrap load_state when state_dict_type=SHARDED_STATE_DICT
with only_data():
    ...  #: body
