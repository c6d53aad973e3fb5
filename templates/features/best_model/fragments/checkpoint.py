from safetensors.torch import load_model

#: slot functions
def load_weights(accelerator: Accelerator, model, path: Path) -> None:
    """Load what save_weights saved, into the prepared model."""
    load_model(accelerator.unwrap_model(model), path)
