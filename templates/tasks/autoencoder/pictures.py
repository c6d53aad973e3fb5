from pathlib import Path

import torch
from accelerate import Accelerator
from torch import Tensor, nn

#: slot functions
@torch.no_grad()
def draw_reconstructions(
    accelerator: Accelerator, model: nn.Module, images: Tensor, path: Path
) -> None:
    """Draw images, each above its reconstruction."""
    #: region draw
    if accelerator.is_main_process:
        autoencoder = accelerator.unwrap_model(model)  # only the main process runs it
        autoencoder.eval()
        outputs = autoencoder(images.to(accelerator.device))
        autoencoder.train()
        save_grid(torch.cat([images, outputs.cpu()]), columns=len(images), path=path)
    #: end draw

#: replace draw when hardware.sharding=deepspeed|fsdp
# run on all processes: each one holds a shard of the weights
model.eval()
outputs = model(images.to(accelerator.device))
model.train()
if accelerator.is_main_process:
    save_grid(torch.cat([images, outputs.cpu()]), columns=len(images), path=path)
