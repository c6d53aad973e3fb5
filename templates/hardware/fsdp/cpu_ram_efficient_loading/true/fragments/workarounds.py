import torch

#: slot functions
def has_device() -> bool:
    """Accelerate 1.15: cpu_ram_efficient_loading takes effect even if the model is not sharded.

    On the CPU, all processes but the first would keep random weights. Delete this when the setting
    is ignored there, and set it to True in train.py.
    """
    device = torch.accelerator.current_accelerator(check_available=True)
    return device is not None and device.type != "mps"
