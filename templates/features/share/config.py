import torch

#: slot recorded
cuda = accelerator.device.type == "cuda"
device = torch.cuda.get_device_name() if cuda else accelerator.device.type
precision = f"mixed precision: {accelerator.mixed_precision}"
settings["hardware"] = f"{accelerator.num_processes} x {device}, {precision}"
