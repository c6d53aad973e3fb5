#: slot task
TASK = "multiple-choice"  # one of https://huggingface.co/tasks
