#: slot before_update
accelerator.clip_grad_norm_(model.parameters(), config.clipping_max_norm)
