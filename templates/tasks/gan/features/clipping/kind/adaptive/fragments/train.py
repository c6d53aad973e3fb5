from callbacks import clip_adaptively

#: replace discriminator_step
accelerator.unscale_gradients()  # without fp16 they have no scale
clip_adaptively(discriminator.parameters(), config.clipping_factor)
discriminator_optimizer.step()
discriminator.zero_grad()

#: slot before_update
accelerator.unscale_gradients()  # without fp16 they have no scale
clip_adaptively(parameters, config.clipping_factor)
