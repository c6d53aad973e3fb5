from callbacks import clip_adaptively

#: slot after_backward when kind=norm
if config.max_grad_norm:
    grad_norm = accelerator.clip_grad_norm_(model.parameters(), config.max_grad_norm)

#: slot log_values when kind=norm
if config.max_grad_norm:
    #: slot read_norm
    values["grad_norm"] = float(grad_norm)
    #: slot log_norms

#: slot after_backward when kind=value
#: region value
if config.max_grad_value:
    accelerator.clip_grad_value_(model.parameters(), config.max_grad_value)
#: end value

#: slot after_backward when kind=adaptive
#: region adaptive
if config.max_grad_ratio:
    accelerator.unscale_gradients()
    clip_adaptively(model.parameters(), config.max_grad_ratio)
#: end adaptive
