#: slot metadata
base_model=None if Path(config.model_name).exists() else config.model_name,
