#: slot task
TASK = "fill-mask"  # one of https://huggingface.co/tasks
