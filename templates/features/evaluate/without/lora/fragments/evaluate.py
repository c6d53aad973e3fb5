from safetensors.torch import load_model

#: slot load_weights
load_model(model, weights)
