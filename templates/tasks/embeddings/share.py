#: slot task without image_texts
TASK = "sentence-similarity"  # one of https://huggingface.co/tasks

#: slot metadata when dataset=huggingface without image_texts
datasets=None if Path(config.dataset_name).exists() else config.dataset_name,

#: slot task with image_texts
TASK = "zero-shot-image-classification"  # one of https://huggingface.co/tasks

#: slot metadata when dataset=hub_images with image_texts
datasets=None if Path(config.dataset_name).exists() else config.dataset_name,
