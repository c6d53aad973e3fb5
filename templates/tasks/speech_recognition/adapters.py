from lib.extractors import load_extractor
from model import build_tokenizer

#: slot layers when model=pretrained
inner = model.model
layers = [
    name
    for name, layer in inner.named_modules()
    if isinstance(layer, nn.Linear) and name != "lm_head"  # which is new
]

#: slot settings when model=pretrained
modules_to_save=["lm_head"],

#: slot layers when model=whisper
layers = ["q_proj", "v_proj"]  # of all attentions, as in the example of PEFT for Whisper

#: slot saved when model=pretrained|whisper
load_extractor(config.pretrained_name).save_pretrained(folder)

#: slot saved when model=whisper
build_tokenizer(config).tokenizer.save_pretrained(folder)
