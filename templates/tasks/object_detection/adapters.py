from torch.nn.modules.batchnorm import _BatchNorm
from transformers import AutoImageProcessor

#: slot layers when model=transformers
inner = model.model
if len(list(inner.named_parameters(remove_duplicate=False))) > len(list(inner.parameters())):
    kind = inner.config.model_type
    raise SystemExit(f"Layers of {kind} share weights, so it can't have adapters: turn lora off.")
parts = dict(inner.named_modules())
linear = [name for name, part in parts.items() if isinstance(part, nn.Linear)]
# new for the classes: class_labels_classifier; or class_embed, enc_score_head and others
new = [name for name in linear if "class" in name or "score" in name]
new += [name for name in parts if name.endswith("denoising_class_embed")]
layers = [name for name in linear if name not in new]
norms = [name for name, part in parts.items() if isinstance(part, _BatchNorm)]

#: slot settings when model=transformers
modules_to_save=[*new, *norms],

#: slot saved when model=transformers
AutoImageProcessor.from_pretrained(config.pretrained_name).save_pretrained(folder)
