from model import fixed_noise

#: slot free
FREE = (0,)  # dynamic dimensions of the inputs: samples

#: slot functions
def read_inputs(config: Config) -> Inputs:
    """Noise for eight images."""
    return (fixed_noise(0, 8, config.latent),)
