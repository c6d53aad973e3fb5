#: file when project.task=autoencoder|diffusion|gan|self_supervised project.loop=complete
"""Pictures of model outputs, written during training."""

from pathlib import Path

import torch.nn.functional as F
from PIL import Image
from torch import Tensor


#: slot functions


def save_grid(images: Tensor, columns: int, path: Path) -> None:
    """Write images, shape (batch, channels, height, width), from 0 to 1, in rows of one picture."""
    framed = F.pad(images, (1, 1, 1, 1), value=0.5).unflatten(0, (-1, columns))
    rows = framed.permute(0, 3, 1, 4, 2).flatten(2, 3).flatten(0, 1)  # side by side
    pixels = (255 * rows.squeeze(2)).round().byte().cpu()  # one channel is a grayscale picture
    picture = Image.fromarray(pixels.numpy())
    #: region save
    picture.resize((4 * picture.width, 4 * picture.height), Image.Resampling.NEAREST).save(path)
    #: end save
#: end file

#: replace save when dataset=image_folder
picture.save(path)
