from quantization import quantize

#: replace build
model = build_model(config)
quantize(model, config)
