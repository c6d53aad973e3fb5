#: replace loss
loss = compute_loss(model(images), targets, scale).mean()
#: replace add_loss
train_loss.add(loss, len(targets))
