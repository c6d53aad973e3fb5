from torch.nn.modules.batchnorm import _BatchNorm
from transformers import AutoImageProcessor

#: slot layers when model=transformers
inner = model.model
start = f"{inner.base_model_prefix or 'backbone'}."  # the part with pretrained weights
parts = {
    name: part
    for name, part in inner.named_modules()
    if any(weight.requires_grad for weight in part.parameters(recurse=False))
}
pretrained = {name: part for name, part in parts.items() if name.startswith(start)}
new = [name for name in parts if name not in pretrained]
layers = [name for name, part in pretrained.items() if isinstance(part, nn.Linear)]
norms = [name for name, part in pretrained.items() if isinstance(part, _BatchNorm)]
if not layers and not config.lora_target_modules:
    raise SystemExit(f"{config.pretrained_name} has no linear layers for adapters: turn lora off.")

#: slot settings when model=transformers
modules_to_save=[*new, *norms],

#: slot saved when model=transformers
AutoImageProcessor.from_pretrained(config.pretrained_name).save_pretrained(folder)
