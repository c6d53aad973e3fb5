#: slot task
TASK = "tabular-classification"  # one of https://huggingface.co/tasks
