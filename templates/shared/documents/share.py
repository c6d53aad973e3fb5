#: when project.task=language_model|masked_language_model
#: slot metadata when dataset=huggingface
datasets=None if Path(config.dataset_name).exists() else config.dataset_name,
