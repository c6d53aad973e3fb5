#: slot target
def find_targets(images: Tensor, noise: Tensor, times: Tensor) -> Tensor:
    """What the model predicts: the noise (Ho and others 2020, arxiv.org/abs/2006.11239)."""
    return noise


def estimate_images(noisy: Tensor, outputs: Tensor, signal: Tensor, spread: Tensor) -> Tensor:
    """The images without their noise."""
    return (noisy - spread * outputs) / signal
