from safetensors.torch import load_file

#: slot load_weights
weights = load_file(path)
