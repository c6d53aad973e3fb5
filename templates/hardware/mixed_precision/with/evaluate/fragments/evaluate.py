#: slot accelerator
mixed_precision=config.mixed_precision,
