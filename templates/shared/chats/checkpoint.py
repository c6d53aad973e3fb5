#: when project.task=sft|dpo
#: slot fixed
"context": "it decides the batches",
