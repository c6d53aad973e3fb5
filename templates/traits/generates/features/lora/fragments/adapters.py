from model import build_tokenizer
from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as USUAL_LAYERS
from transformers.pytorch_utils import Conv1D

#: slot layers
layers = USUAL_LAYERS.get(model.model.config.model_type, "all-linear")

#: slot settings
fan_in_fan_out=any(isinstance(layer, Conv1D) for layer in model.modules()),
task_type={{ task.adapter | python }},

#: slot saved
build_tokenizer(config).tokenizer.save_pretrained(folder)
