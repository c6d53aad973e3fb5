#: slot target
def find_targets(images: Tensor, noise: Tensor, times: Tensor) -> Tensor:
    """What the model predicts: the velocity, a mix of noise and image.

    Salimans and Ho 2022, https://arxiv.org/abs/2202.00512
    """
    signal, spread = find_scales(times)
    return signal * noise - spread * images


def estimate_images(noisy: Tensor, outputs: Tensor, signal: Tensor, spread: Tensor) -> Tensor:
    """The images without their noise."""
    return signal * noisy - spread * outputs
