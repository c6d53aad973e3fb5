#: slot accelerator
cpu=True,
