#: slot metadata
base_model=None if Path(config.pretrained_name).exists() else config.pretrained_name,
