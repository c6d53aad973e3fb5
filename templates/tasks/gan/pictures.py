from pathlib import Path

import torch
from accelerate import Accelerator
from torch import nn

from model import fixed_noise

#: slot functions
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
