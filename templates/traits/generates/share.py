#: slot metadata when model=pretrained
base_model=None if Path(config.model_name).exists() else config.model_name,
