from environment import read_settings

#: slot accelerator
mixed_precision=read_settings(given.run).get("mixed_precision", Config.mixed_precision),
