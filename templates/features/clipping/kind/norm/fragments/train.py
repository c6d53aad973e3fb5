#: slot before_update
#: region clip_norm
accelerator.clip_grad_norm_(parameters, config.clipping_max_norm)
#: end clip_norm
