#: replace discriminator_step
accelerator.clip_grad_norm_(discriminator.parameters(), config.clipping_max_norm)
discriminator_optimizer.step()
discriminator.zero_grad()

#: slot before_update
#: region clip_norm
accelerator.clip_grad_norm_(parameters, config.clipping_max_norm)
#: end clip_norm
