#: slot task
TASK = "question-answering"  # one of https://huggingface.co/tasks
