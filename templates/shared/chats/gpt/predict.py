#: when project.task=sft|dpo model=gpt
from generation import generate
