#: slot task
TASK = "tabular-regression"  # one of https://huggingface.co/tasks
