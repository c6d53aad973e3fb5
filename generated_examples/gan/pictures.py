"""Pictures of model outputs, written during training."""

from pathlib import Path

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from PIL import Image
from torch import Tensor, nn

from model import fixed_noise


@torch.no_grad()
def draw_samples(accelerator: Accelerator, model: nn.Module, path: Path) -> None:
    """Draw 64 generated images, always from the same noise."""
    if accelerator.is_main_process:
        generator = accelerator.unwrap_model(model)  # only the main process runs it
        noise = fixed_noise(0, 64, generator.latent).to(accelerator.device)
        generator.eval()
        images = generator(noise)
        generator.train()
        save_grid(images, columns=16, path=path)


def save_grid(images: Tensor, columns: int, path: Path) -> None:
    """Write images, shape (batch, channels, height, width), from 0 to 1, in rows of one picture."""
    framed = F.pad(images, (1, 1, 1, 1), value=0.5).unflatten(0, (-1, columns))
    rows = framed.permute(0, 3, 1, 4, 2).flatten(2, 3).flatten(0, 1)  # side by side
    pixels = (255 * rows.squeeze(2)).round().byte().cpu()  # one channel is a grayscale picture
    picture = Image.fromarray(pixels.numpy())
    picture.resize((4 * picture.width, 4 * picture.height), Image.Resampling.NEAREST).save(path)
