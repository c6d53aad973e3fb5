#: slot moved
if not Path(config.table).exists():  # after a move of the run: its weights have the scale
    return torch.zeros(2)
