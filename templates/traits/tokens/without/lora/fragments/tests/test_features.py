from safetensors.torch import load_model

#: slot started
model = build_exact_model(config)
load_model(model, start)
parameters = model.named_parameters()
