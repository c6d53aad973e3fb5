#: slot task
TASK = "audio-classification"  # one of https://huggingface.co/tasks
