import torch

#: slot functions
def has_device() -> bool:
    """Whether there is a device among which Accelerate splits a model. Elsewhere it is whole."""
    device = torch.accelerator.current_accelerator(check_available=True)
    return device is not None and device.type != "mps"
