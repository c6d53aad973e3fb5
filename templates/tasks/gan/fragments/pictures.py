from pathlib import Path

import torch
from accelerate import Accelerator
from model import fixed_noise
from torch import nn

#: slot functions
@torch.no_grad()
def draw_samples(accelerator: Accelerator, model: nn.Module, path: Path) -> None:
    """Draw, on the main process, what the generator makes of 64 points of noise."""
    if accelerator.is_main_process:
        generator = accelerator.unwrap_model(model)  # so that it waits for nobody
        generator.eval()
        noise = fixed_noise(0, 64, generator.latent).to(accelerator.device)
        save_grid(generator(noise), columns=16, path=path)
        generator.train()
