from pathlib import Path

import torch
from accelerate import Accelerator
from torch import Tensor, nn

#: slot functions
@torch.no_grad()
def draw_reconstructions(
    accelerator: Accelerator, model: nn.Module, images: Tensor, path: Path
) -> None:
    """Draw images, and below each what the model makes of it."""
    #: region draw
    if accelerator.is_main_process:
        autoencoder = accelerator.unwrap_model(model)  # the other processes don't take part
        autoencoder.eval()
        outputs = autoencoder(images.to(accelerator.device))
        autoencoder.train()
        save_grid(torch.cat([images, outputs.cpu()]), columns=len(images), path=path)
    #: end draw
