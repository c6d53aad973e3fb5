from files import load_weights

#: slot load_weights
load_weights(accelerator, model, config.output_dir / "model.safetensors")
