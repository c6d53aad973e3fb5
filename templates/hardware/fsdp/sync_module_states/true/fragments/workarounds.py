import torch

#: slot functions
def has_device() -> bool:
    """Accelerate 1.15: sync_module_states raises an error if there is no device.

    The project could not be tried out on a CPU. Delete this when the setting is ignored there, and
    set it to True in train.py.
    """
    device = torch.accelerator.current_accelerator(check_available=True)
    return device is not None and device.type != "mps"
