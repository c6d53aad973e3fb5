from safetensors.torch import load_model

#: slot load_weights
load_model(accelerator.unwrap_model(model), path)
