from safetensors import SafetensorError
from safetensors.torch import load_model

#: slot load_weights
weights = config.output_dir / "model.safetensors"
try:
    load_model(model, weights)
except (OSError, RuntimeError, SafetensorError) as error:
    raise SystemExit(f"{weights} can't be loaded: {error}") from error
