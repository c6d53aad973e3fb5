#: when dataset=huggingface
#: slot metadata
datasets=None if Path(config.dataset_name).exists() else config.dataset_name,
