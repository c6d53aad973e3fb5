from lib.extractors import load_extractor

#: slot layers when model=pretrained
inner = model.model
heads = [name for name in ("projector", "classifier") if hasattr(inner, name)]  # they are new
layers = [
    name
    for name, layer in inner.named_modules()
    if isinstance(layer, nn.Linear) and name.split(".")[0] not in heads
]

#: slot settings when model=pretrained
modules_to_save=heads,

#: slot saved when model=pretrained
load_extractor(config.pretrained_name).save_pretrained(folder)
