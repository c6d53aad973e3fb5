#: slot functions
def load_weights(accelerator: Accelerator, model: nn.Module, path: Path) -> None:
    """Load weights into a model, prepared or not. Call it on all processes."""
    ...  #: slot load_weights
