#: slot moved
if not Path(config.table).exists():  # the run was moved: its weights have the scale
    return torch.zeros(2)
