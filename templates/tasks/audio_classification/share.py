#: slot task
TASK = "audio-classification"  # one of https://huggingface.co/tasks

#: slot metadata when model=pretrained
base_model=None if Path(config.pretrained_name).exists() else config.pretrained_name,
