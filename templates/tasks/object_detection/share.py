from pathlib import Path

#: slot task
#: region hub_task
TASK = "object-detection"  # one of https://huggingface.co/tasks
#: end hub_task

#: replace hub_task when find=masks
TASK = "image-segmentation"  # one of https://huggingface.co/tasks

#: slot metadata when model=transformers
base_model=None if Path(config.pretrained_name).exists() else config.pretrained_name,
