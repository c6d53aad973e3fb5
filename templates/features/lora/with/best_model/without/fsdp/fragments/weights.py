#: slot load_weights
load_adapters(accelerator.unwrap_model(model), path)
