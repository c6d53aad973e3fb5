#: slot task
TASK = "unconditional-image-generation"  # one of https://huggingface.co/tasks
