from itertools import islice
from pathlib import Path

import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.utils.data import Dataset

from model import to_images, to_patches

#: slot functions when method=simclr
def draw_views(data: Dataset, path: Path) -> None:
    """Draw the first training images, and below each the views that are compared."""
    images, views = map(torch.stack, zip(*islice(data, 16), strict=True))
    save_grid(torch.cat([images, views[:, 0], views[:, 1]]), columns=len(images), path=path)

#: slot functions when method=mae
@torch.no_grad()
def draw_reconstructions(
    accelerator: Accelerator, model: nn.Module, images: Tensor, seen: Tensor, path: Path
) -> None:
    """Draw images, and below each its visible patches and the reconstruction.

    Call it on all processes.
    """
    model.eval()
    outputs = model(images.to(accelerator.device), seen.to(accelerator.device)).float().cpu()
    model.train()
    if accelerator.is_main_process:
        whole = to_patches(images, outputs.shape[1])
        is_seen = torch.zeros(whole.shape[:2], dtype=torch.bool).scatter(1, seen, True).unsqueeze(2)
        rows = whole, whole.where(is_seen, 0.5), whole.where(is_seen, outputs.clamp(0, 1))
        pictures = to_images(torch.cat(rows), images.shape[1])
        save_grid(pictures, columns=len(images), path=path)
