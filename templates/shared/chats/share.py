#: when project.task=sft|dpo
#: slot task
TASK = "text-generation"  # one of https://huggingface.co/tasks

#: slot metadata when dataset=huggingface
datasets=None if Path(config.dataset_name).exists() else config.dataset_name,
