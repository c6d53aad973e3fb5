#: slot task
TASK = "zero-shot-image-classification"  # one of https://huggingface.co/tasks

#: slot metadata when dataset=hub_images
datasets=None if Path(config.dataset_name).exists() else config.dataset_name,
