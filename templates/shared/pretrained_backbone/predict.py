#: when pretrained=true without lora
from dataclasses import replace

#: replace build
# the weights of the run replace the pretrained ones, which need not be downloaded
model = build_model(replace(config, pretrained=False))
