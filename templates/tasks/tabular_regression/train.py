#: slot before_training
scale = accelerator.unwrap_model(model).scale

#: slot forward
#: region loss
loss = compute_loss(model(rows), targets, scale).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(targets))
#: end add_loss
