from files import load_weights

#: slot load_weights
load_weights(Accelerator(), model, config.output_dir / "model.safetensors")
