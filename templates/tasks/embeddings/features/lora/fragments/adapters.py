from data import build_tokenizer
from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as USUAL_LAYERS

#: slot layers
layers = USUAL_LAYERS.get(model.model.config.model_type, "all-linear")

#: slot settings
task_type={{ task.adapter | python }},

#: slot saved
build_tokenizer(config).save_pretrained(folder)
