#: replace loss
logits = model(images)
loss = compute_loss(
    logits, labels
    #: slot loss_arguments
).mean()
