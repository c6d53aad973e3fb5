#: when project.task=embeddings|masked_language_model|multiple_choice|question_answering|token_classification
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

#: slot saved
build_tokenizer(config).save_pretrained(folder)
