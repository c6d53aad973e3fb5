#: slot task
TASK = "text-generation"  # one of https://huggingface.co/tasks
