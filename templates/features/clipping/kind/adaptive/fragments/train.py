from callbacks import clip_adaptively

#: slot after_backward
if config.max_grad_ratio:
    accelerator.unscale_gradients()
    clip_adaptively(model.parameters(), config.max_grad_ratio)
