from data import image_shape
from diffusion import draw_noise

#: replace inputs when condition=classes
#: region labels
return noise, times, torch.arange(8) % 10
#: end labels

#: replace export_free
FREE = (0,)  # dynamic dimensions of the inputs: samples

#: replace export_functions
def read_inputs(config: Config) -> Inputs:
    """Noise for eight images, and the other model inputs."""
    drawn = [draw_noise(image_shape(config), seed) for seed in range(8)]
    noise, times = (torch.stack(parts) for parts in zip(*drawn, strict=True))
    #: region inputs
    return noise, times
    #: end inputs

#: replace labels when condition=classes dataset=image_folder
return noise, times, torch.arange(8) % config.classes
