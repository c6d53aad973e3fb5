from math import inf

#: replace discriminator_clipping
discriminator_grad_norm = accelerator.clip_grad_norm_(
    discriminator.parameters(), config.max_grad_norm or inf
)

#: slot after_backward
grad_norm = accelerator.clip_grad_norm_(model.parameters(), config.max_grad_norm or inf)

#: slot log_values
values["grad_norm"] = float(grad_norm)
values["discriminator_grad_norm"] = float(discriminator_grad_norm)
