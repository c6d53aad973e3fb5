#: when project.task=embeddings|masked_language_model|multiple_choice|question_answering|reward_model|token_classification
from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as USUAL_LAYERS

from data import build_tokenizer

#: slot layers
inner = model.model
prefix = inner.base_model_prefix  # the part with pretrained weights; other parts may be new
start = f"{prefix}." if hasattr(inner, prefix) else ""
layers = USUAL_LAYERS.get(inner.config.model_type) or [
    f"{start}{name}"
    for name, layer in inner.base_model.named_modules()
    if isinstance(layer, nn.Linear) and not name.startswith("pooler")
]

#: slot saved when project.task=embeddings|masked_language_model|multiple_choice|question_answering|token_classification
build_tokenizer(config).save_pretrained(folder)

#: slot layers when project.task=multiple_choice|question_answering|reward_model|token_classification
parts = {name: list(part.parameters()) for name, part in inner.named_children()}
new = [name for name in parts if name != prefix and parts[name]]
if any(name.startswith("pooler.") for name, _ in inner.base_model.named_parameters()):
    new.append(f"{start}pooler")  # between them, and not in all checkpoints

#: slot settings when project.task=multiple_choice|question_answering|reward_model|token_classification
modules_to_save=new,
task_type={{ task.adapter | python }},
