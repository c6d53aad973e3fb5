#: slot layers
inner = model.model
layers = [
    name
    for name, layer in inner.named_modules()
    if isinstance(layer, nn.Linear) and name != "lm_head"  # which is new
]

#: slot settings
modules_to_save=["lm_head"],
