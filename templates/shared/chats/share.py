#: when project.task=sft|dpo
#: slot metadata when dataset=huggingface
datasets=None if Path(config.dataset_name).exists() else config.dataset_name,
