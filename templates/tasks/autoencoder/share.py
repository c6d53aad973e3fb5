#: slot task
TASK = "image-to-image"  # one of https://huggingface.co/tasks
