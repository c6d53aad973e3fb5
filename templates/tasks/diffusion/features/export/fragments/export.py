from data import image_shape
from diffusion import draw_noise

#: slot free
FREE = (0,)  # the dimensions of inputs whose size may change: samples

#: slot functions
def read_inputs(config: Config) -> Inputs:
    """Noise for eight images, and what else the model takes."""
    drawn = [draw_noise(image_shape(config), seed) for seed in range(8)]
    noise, times = (torch.stack(parts) for parts in zip(*drawn, strict=True))
    #: region inputs
    return noise, times
    #: end inputs
