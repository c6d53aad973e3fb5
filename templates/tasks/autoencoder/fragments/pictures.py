from pathlib import Path

import torch
from accelerate import Accelerator
from torch import Tensor, nn

#: slot functions
@torch.no_grad()
def draw_reconstructions(
    accelerator: Accelerator, model: nn.Module, images: Tensor, path: Path
) -> None:
    """Draw, on the main process, images and below each what the model makes of it."""
    #: region draw
    if accelerator.is_main_process:
        autoencoder = accelerator.unwrap_model(model)  # so that it waits for nobody
        autoencoder.eval()
        drawn = autoencoder(images.to(accelerator.device))
        save_grid(torch.cat([images, drawn.cpu()]), columns=len(images), path=path)
        autoencoder.train()
    #: end draw
