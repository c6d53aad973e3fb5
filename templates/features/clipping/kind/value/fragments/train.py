#: slot before_update
accelerator.clip_grad_value_(model.parameters(), config.clipping_max_value)
