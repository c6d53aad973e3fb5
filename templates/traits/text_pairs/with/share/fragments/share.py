#: slot task
TASK = "sentence-similarity"  # one of https://huggingface.co/tasks
