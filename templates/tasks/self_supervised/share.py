#: slot task
TASK = "image-feature-extraction"  # one of https://huggingface.co/tasks
