#: replace hub_task
TASK = "image-segmentation"  # one of https://huggingface.co/tasks
