from data import build_tokenizer
from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as USUAL_LAYERS

#: slot layers
inner = model.model
pretrained = inner.base_model_prefix  # the part with pretrained weights; the others are new
parts = {name: list(part.parameters()) for name, part in inner.named_children()}
layers = USUAL_LAYERS.get(inner.config.model_type) or [
    f"{pretrained}.{name}"
    for name, layer in inner.base_model.named_modules()
    if isinstance(layer, nn.Linear)
]

#: slot settings
modules_to_save=[name for name in parts if name != pretrained and parts[name]],
task_type={{ task.adapter | python }},

#: slot saved
build_tokenizer(config).save_pretrained(folder)
