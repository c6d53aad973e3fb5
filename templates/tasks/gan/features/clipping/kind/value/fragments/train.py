#: replace discriminator_step
accelerator.clip_grad_value_(discriminator.parameters(), config.clipping_max_value)
discriminator_optimizer.step()
discriminator.zero_grad()

#: slot before_update
accelerator.clip_grad_value_(parameters, config.clipping_max_value)
