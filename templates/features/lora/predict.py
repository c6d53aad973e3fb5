from safetensors import SafetensorError

from adapters import load_trained

#: slot load_weights
weights = config.output_dir / "model.safetensors"
try:
    model = load_trained(model, config, weights)
except (OSError, RuntimeError, SafetensorError) as error:
    raise SystemExit(f"{weights} can't be loaded: {error}") from error
