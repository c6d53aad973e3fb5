#: slot after_prepare
scale = accelerator.unwrap_model(model).scale

#: replace loss
loss = compute_loss(model(images), targets, scale).mean()
