#: replace discriminator_clipping
if config.max_grad_value:
    accelerator.clip_grad_value_(discriminator.parameters(), config.max_grad_value)

#: slot after_backward
if config.max_grad_value:
    accelerator.clip_grad_value_(model.parameters(), config.max_grad_value)
