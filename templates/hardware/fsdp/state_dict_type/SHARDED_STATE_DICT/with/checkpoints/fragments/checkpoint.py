from sharded_metadata import only_data

#: wrap load_state
with only_data():
    ...  #: body
