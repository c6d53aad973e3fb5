#: slot task
TASK = "zero-shot-image-classification"  # one of https://huggingface.co/tasks
