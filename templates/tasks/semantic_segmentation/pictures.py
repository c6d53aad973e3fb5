#: file when project.loop=complete
"""Pictures of predictions, written during training."""

from colorsys import hsv_to_rgb
from pathlib import Path

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from PIL import Image
from torch import Tensor, nn

# a color for each class, shape (256, 3), from 0 to 1: black for class 0, and hues far apart
COLORS = torch.tensor(
    [(0.0, 0.0, 0.0), *(hsv_to_rgb(0.618 * label % 1, 0.9, 1.0) for label in range(1, 256))]
)


@torch.no_grad()
def draw_masks(
    accelerator: Accelerator, model: nn.Module, images: Tensor, masks: Tensor, path: Path
) -> None:
    """Draw images, and below each its mask and the predicted mask, both over the image."""
    #: region draw
    if accelerator.is_main_process:
        segmenter = accelerator.unwrap_model(model)  # only the main process runs it
        segmenter.eval()
        predictions = segmenter(images.to(accelerator.device)).argmax(dim=1).cpu()
        segmenter.train()
        save_rows([images, paint(images, masks), paint(images, predictions)], path)
    #: end draw


def paint(images: Tensor, masks: Tensor) -> Tensor:
    """Images, half covered by the colors of their masks."""
    return (images + COLORS[masks].permute(0, 3, 1, 2)) / 2


def save_rows(rows: list[Tensor], path: Path) -> None:
    """Write batches of images, shape (batch, 3, height, width), from 0 to 1, below each other."""
    framed = [F.pad(row, (1, 1, 1, 1), value=1.0).permute(2, 0, 3, 1).flatten(1, 2) for row in rows]
    pixels = (255 * torch.cat(framed)).round().byte()
    Image.fromarray(pixels.numpy()).save(path)
#: end file

#: replace draw when hardware.sharding=deepspeed|fsdp
# run on all processes: each one holds a shard of the weights
model.eval()
predictions = model(images.to(accelerator.device)).argmax(dim=1).cpu()
model.train()
if accelerator.is_main_process:
    save_rows([images, paint(images, masks), paint(images, predictions)], path)
