#: slot task
TASK = "image-classification"  # one of https://huggingface.co/tasks
