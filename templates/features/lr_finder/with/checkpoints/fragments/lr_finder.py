#: slot settings
checkpoint_every=0,
resume="",
