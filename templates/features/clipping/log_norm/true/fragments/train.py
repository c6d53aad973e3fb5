#: replace clip_norm
norm = accelerator.clip_grad_norm_(parameters, config.clipping_max_norm)

#: slot after_log
log(f"gradient norm {norm.item():.4g} before clipping")
