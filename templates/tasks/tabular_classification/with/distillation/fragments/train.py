#: replace loss
logits = model(rows)
loss = compute_loss(
    logits, labels
    #: slot loss_arguments
).mean()
