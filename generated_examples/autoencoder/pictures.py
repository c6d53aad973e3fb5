"""Pictures of model outputs, written during training."""

from pathlib import Path

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from PIL import Image
from torch import Tensor, nn


@torch.no_grad()
def draw_reconstructions(
    accelerator: Accelerator, model: nn.Module, images: Tensor, path: Path
) -> None:
    """Draw images, each above its reconstruction."""
    if accelerator.is_main_process:
        autoencoder = accelerator.unwrap_model(model)  # only the main process runs it
        autoencoder.eval()
        outputs = autoencoder(images.to(accelerator.device))
        autoencoder.train()
        save_grid(torch.cat([images, outputs.cpu()]), columns=len(images), path=path)


def save_grid(images: Tensor, columns: int, path: Path) -> None:
    """Write images, shape (batch, channels, height, width), from 0 to 1, in rows of one picture."""
    framed = F.pad(images, (1, 1, 1, 1), value=0.5).unflatten(0, (-1, columns))
    rows = framed.permute(0, 3, 1, 4, 2).flatten(2, 3).flatten(0, 1)  # side by side
    pixels = (255 * rows.squeeze(2)).round().byte().cpu()  # one channel is a grayscale picture
    picture = Image.fromarray(pixels.numpy())
    picture.resize((4 * picture.width, 4 * picture.height), Image.Resampling.NEAREST).save(path)
