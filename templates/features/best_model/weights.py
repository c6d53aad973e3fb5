from safetensors import SafetensorError
from safetensors.torch import load_model

#: slot functions
def load_weights(accelerator: Accelerator, model: nn.Module, path: Path) -> None:
    """Load weights into a model, prepared or not. Call it on all processes."""
    ...  #: slot load_weights

#: slot load_weights without fsdp without deepspeed without lora
try:
    load_model(accelerator.unwrap_model(model, keep_torch_compile=False), path)
except (OSError, RuntimeError, SafetensorError) as error:
    raise SystemExit(f"{path} can't be loaded: {error}") from error
