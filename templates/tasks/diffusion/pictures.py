from pathlib import Path

import torch
from accelerate import Accelerator
from torch import nn

from data import image_shape
from diffusion import fixed_noise, sample

#: slot functions
def draw_samples(accelerator: Accelerator, model: nn.Module, config, path: Path) -> None:
    """Draw 64 generated images, always from the same noise. Call it on all processes."""
    noise = fixed_noise(list(range(64)), image_shape(config)).to(accelerator.device)
    model.eval()
    #: region sample
    images = sample(model, noise)
    #: end sample
    model.train()
    if accelerator.is_main_process:
        save_grid(images, columns=16, path=path)

#: replace sample when condition=classes
#: region labels
labels = torch.arange(64, device=noise.device) % 10  # all classes in turn
#: end labels
images = sample(model, noise, labels, config.guidance)

#: replace labels when condition=classes dataset=image_folder
labels = torch.arange(64, device=noise.device) % config.classes  # all classes in turn
