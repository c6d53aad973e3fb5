#: file
"""Adds noise to images, and samples images from noise with a model.

Images are from -1 to 1. Images, noise and model outputs have the shape
(batch, channels, size, size), times have the shape (batch,).
"""

from itertools import pairwise

import torch
from torch import Tensor, nn

LEVELS = 1000  # noise levels
#: region steps
SAMPLING_STEPS = 10  # model calls to generate images
#: end steps

#: slot functions


#: region process
def build_signal() -> Tensor:
    """The share of the image in the variance of a noisy image, at times 0 to LEVELS - 1."""
    ...  #: slot schedule
    return (1 - betas).cumprod(dim=0)


SIGNAL = build_signal()


def draw_time(generator: torch.Generator) -> Tensor:
    """A random time, shape (): 0 is almost the clean image, LEVELS - 1 almost pure noise."""
    return torch.randint(LEVELS, (), generator=generator)


def find_scales(times: Tensor) -> tuple[Tensor, Tensor]:
    """The factors of images and of noise at these times, both of shape (batch, 1, 1, 1)."""
    signal = SIGNAL.to(times.device)[times].reshape(-1, 1, 1, 1)
    return signal.sqrt(), (1 - signal).sqrt()


def add_noise(images: Tensor, noise: Tensor, times: Tensor) -> Tensor:
    """Images with the amount of noise for these times."""
    signal, spread = find_scales(times)
    return signal * images + spread * noise


...  #: slot target


def list_times(steps: int) -> list[int]:
    """The times of sampling, from the noisiest one down to -1, the finished image."""
    return [round(LEVELS * (1 - step / steps)) - 1 for step in range(steps + 1)]


def denoise(noisy: Tensor, outputs: Tensor, time: int, following: int) -> Tensor:
    """Noisy images at the following time: a step of DDIM, without new noise.

    Song and others 2021, https://arxiv.org/abs/2010.02502
    """
    signal, spread = find_scales(torch.tensor([time], device=noisy.device))
    images = estimate_images(noisy, outputs, signal, spread).clamp(-1, 1)
    if following < 0:
        return images
    noise = (noisy - signal * images) / spread
    return add_noise(images, noise, torch.tensor([following], device=noisy.device))


#: end process
#: region sample
@torch.no_grad()
def sample(model: nn.Module, noise: Tensor, steps: int = SAMPLING_STEPS) -> Tensor:
    """Generate images, from 0 to 1, from noise."""
    noisy = noise
    for time, following in pairwise(list_times(steps)):
        times = torch.full((len(noise),), time, device=noise.device)
        noisy = denoise(noisy, model(noisy, times), time, following)
    return (noisy.clamp(-1, 1) + 1) / 2


#: end sample
def draw_noise(shape: tuple[int, ...], seed: int) -> tuple[Tensor, Tensor]:
    """Noise of this shape, and a time. The random state of training does not change."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator), draw_time(generator)


#: slot noise
#: end file

from collections.abc import Sequence
from math import cos, pi

#: replace sample when condition=classes
@torch.no_grad()
def sample(
    model: nn.Module,
    noise: Tensor,
    labels: Tensor,
    guidance: float = 1.0,
    steps: int = SAMPLING_STEPS,
) -> Tensor:
    """Generate images of these classes, from 0 to 1, from noise."""
    noisy = noise
    for time, following in pairwise(list_times(steps)):
        times = torch.full((len(noise),), time, device=noise.device)
        outputs = guide(model, noisy, times, labels, guidance)
        noisy = denoise(noisy, outputs, time, following)
    return (noisy.clamp(-1, 1) + 1) / 2


def guide(
    model: nn.Module, noisy: Tensor, times: Tensor, labels: Tensor, guidance: float
) -> Tensor:
    """The output for the classes, moved away from the unconditional output.

    Classifier-free guidance: Ho and Salimans 2022, https://arxiv.org/abs/2207.12598. 1: off.
    """
    if guidance == 1:
        return model(noisy, times, labels)
    both = torch.cat([labels, torch.full_like(labels, ANY_CLASS)])
    outputs = model(torch.cat([noisy, noisy]), torch.cat([times, times]), both)
    of_class, of_any = outputs.chunk(2)
    return of_any + guidance * (of_class - of_any)

#: slot functions when condition=classes
ANY_CLASS = -1  # replaces some labels in training, so the model also learns images of any class

#: slot target when target=noise
def find_targets(images: Tensor, noise: Tensor, times: Tensor) -> Tensor:
    """What the model predicts: the noise (Ho and others 2020, arxiv.org/abs/2006.11239)."""
    return noise


def estimate_images(noisy: Tensor, outputs: Tensor, signal: Tensor, spread: Tensor) -> Tensor:
    """The images without their noise."""
    return (noisy - spread * outputs) / signal

#: slot target when target=v
def find_targets(images: Tensor, noise: Tensor, times: Tensor) -> Tensor:
    """What the model predicts: the velocity, a mix of noise and image.

    Salimans and Ho 2022, https://arxiv.org/abs/2202.00512
    """
    signal, spread = find_scales(times)
    return signal * noise - spread * images


def estimate_images(noisy: Tensor, outputs: Tensor, signal: Tensor, spread: Tensor) -> Tensor:
    """The images without their noise."""
    return signal * noisy - spread * outputs

#: replace process when target=flow
def draw_time(generator: torch.Generator) -> Tensor:
    """A random time, shape (): 0 is the image, LEVELS is pure noise."""
    return LEVELS * torch.rand((), generator=generator)


def add_noise(images: Tensor, noise: Tensor, times: Tensor) -> Tensor:
    """Images on a straight line to noise, as far along it as these times say."""
    share = times.reshape(-1, 1, 1, 1) / LEVELS
    return (1 - share) * images + share * noise


def find_targets(images: Tensor, noise: Tensor, times: Tensor) -> Tensor:
    """What the model predicts: the direction from image to noise.

    Lipman and others 2023, https://arxiv.org/abs/2210.02747; Liu and others 2023,
    https://arxiv.org/abs/2209.03003
    """
    return noise - images


def list_times(steps: int) -> list[float]:
    """The times of sampling, from noise to image."""
    return [LEVELS * (1 - step / steps) for step in range(steps + 1)]


def denoise(noisy: Tensor, outputs: Tensor, time: float, following: float) -> Tensor:
    """Noisy images at the following time: a step of Euler's method."""
    return noisy + (following - time) / LEVELS * outputs

#: slot schedule when noise_schedule=cosine
# Nichol and Dhariwal 2021, https://arxiv.org/abs/2102.09672
signal = [cos((time / LEVELS + 0.008) / 1.008 * pi / 2) ** 2 for time in range(LEVELS + 1)]
betas = torch.tensor([min(1 - after / before, 0.999) for before, after in pairwise(signal)])

#: slot schedule when noise_schedule=linear
# Ho and others 2020, https://arxiv.org/abs/2006.11239
betas = torch.linspace(1e-4, 0.02, LEVELS)

#: replace steps when dataset=image_folder
SAMPLING_STEPS = 25  # model calls to generate images

#: slot noise when project.loop=complete
def fixed_noise(numbers: Sequence[int], shape: tuple[int, ...]) -> Tensor:
    """The starting noise of the images with these numbers: the number of an image is its seed."""
    return torch.stack([draw_noise(shape, seed=number)[0] for number in numbers])
