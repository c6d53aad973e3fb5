#: replace process
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


