#: slot task
TASK = "image-classification"  # one of https://huggingface.co/tasks

#: slot metadata when dataset=huggingface
datasets=None if Path(config.dataset_name).exists() else config.dataset_name,
