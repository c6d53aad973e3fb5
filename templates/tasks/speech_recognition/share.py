#: slot task
TASK = "automatic-speech-recognition"  # one of https://huggingface.co/tasks

#: slot metadata when model=pretrained|whisper
base_model=None if Path(config.pretrained_name).exists() else config.pretrained_name,

#: slot metadata when dataset=huggingface
datasets=None if Path(config.dataset_name).exists() else config.dataset_name,
