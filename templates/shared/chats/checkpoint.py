#: when project.task=sft|dpo|reward_model
#: slot fixed
"context": "it decides the batches",
