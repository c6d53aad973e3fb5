#: slot task
TASK = "token-classification"  # one of https://huggingface.co/tasks
