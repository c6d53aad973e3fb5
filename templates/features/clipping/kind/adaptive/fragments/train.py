from callbacks import clip_adaptively

#: slot before_update
accelerator.unscale_gradients()  # without fp16 they have no scale
clip_adaptively(parameters, config.clipping_factor)
