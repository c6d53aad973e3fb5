from model import fixed_noise

#: replace export_free
FREE = (0,)  # dynamic dimensions of the inputs: samples

#: replace export_functions
def read_inputs(config: Config) -> Inputs:
    """Noise for eight images."""
    return (fixed_noise(0, 8, config.latent),)
