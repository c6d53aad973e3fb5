#: slot task
TASK = "image-segmentation"  # one of https://huggingface.co/tasks

#: slot metadata when dataset=huggingface
datasets=None if Path(config.dataset_name).exists() else config.dataset_name,

#: slot metadata when model=transformers
base_model=None if Path(config.pretrained_name).exists() else config.pretrained_name,
