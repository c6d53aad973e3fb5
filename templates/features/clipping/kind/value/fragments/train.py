#: slot before_update
accelerator.clip_grad_value_(parameters, config.clipping_max_value)
