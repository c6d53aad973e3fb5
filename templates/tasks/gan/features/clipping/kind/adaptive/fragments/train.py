from callbacks import clip_adaptively

#: replace discriminator_clipping
if config.max_grad_ratio:
    accelerator.unscale_gradients()
    clip_adaptively(discriminator.parameters(), config.max_grad_ratio)

#: slot after_backward
if config.max_grad_ratio:
    accelerator.unscale_gradients()
    clip_adaptively(model.parameters(), config.max_grad_ratio)
