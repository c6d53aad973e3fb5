#: slot task
#: region hub_task
TASK = "object-detection"  # one of https://huggingface.co/tasks
#: end hub_task
