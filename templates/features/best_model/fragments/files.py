#: slot functions
def load_weights(accelerator: Accelerator, model: nn.Module, path: Path) -> None:
    """Load weights into a model, prepared or not. All processes call it together."""
    ...  #: slot load_weights
