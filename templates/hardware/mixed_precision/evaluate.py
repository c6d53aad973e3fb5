from config import load_config

#: slot accelerator
mixed_precision=load_config(given.run).mixed_precision,
