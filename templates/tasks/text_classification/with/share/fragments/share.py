#: slot task
TASK = "text-classification"  # one of https://huggingface.co/tasks

#: replace library
library_name="transformers",
