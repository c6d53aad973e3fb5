#: replace options
# each process takes its part; frozen weights are not saved
options = dcp.StateDictOptions(full_state_dict=True, strict=False)
