#: slot functions
def load_weights(accelerator: Accelerator, model: nn.Module, path: Path) -> None:
    """Load weights into the prepared model. All processes call it together."""
    ...  #: slot load_weights
