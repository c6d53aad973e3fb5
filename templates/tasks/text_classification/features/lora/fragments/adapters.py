from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as USUAL_LAYERS

#: slot layers
pretrained = model.base_model_prefix  # the part with pretrained weights; the other parts are new
parts = {name: list(part.parameters()) for name, part in model.named_children()}
layers = USUAL_LAYERS.get(model.config.model_type) or [
    f"{pretrained}.{name}"
    for name, layer in model.base_model.named_modules()
    if isinstance(layer, nn.Linear)
]

#: slot settings
modules_to_save=[name for name in parts if name != pretrained and parts[name]],
task_type="SEQ_CLS",
