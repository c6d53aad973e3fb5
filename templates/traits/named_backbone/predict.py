from dataclasses import replace

#: replace build without lora
# the weights of the run replace the pretrained ones, which need not be downloaded
model = build_model(replace(config, pretrained=False))
