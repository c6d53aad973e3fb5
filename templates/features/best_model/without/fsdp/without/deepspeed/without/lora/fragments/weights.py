from safetensors import SafetensorError
from safetensors.torch import load_model

#: slot load_weights
try:
    load_model(accelerator.unwrap_model(model, keep_torch_compile=False), path)
except (OSError, RuntimeError, SafetensorError) as error:
    raise SystemExit(f"{path} can't be loaded: {error}") from error
