#: slot task
TASK = "object-detection"  # one of https://huggingface.co/tasks
