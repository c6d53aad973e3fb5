#: replace weights
weights = accelerator.get_state_dict(model)
