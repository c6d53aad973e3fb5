#: with generates
#: slot task
TASK = "text-generation"  # one of https://huggingface.co/tasks

#: slot metadata when model=pretrained
base_model=None if Path(config.model_name).exists() else config.model_name,
