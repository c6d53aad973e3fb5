#: when project.task=sft|dpo
#: slot fixed
FIXED |= {"context"}
