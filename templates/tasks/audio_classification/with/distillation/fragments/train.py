#: replace loss
logits = model(inputs, lengths)
loss = compute_loss(
    logits, labels
    #: slot loss_arguments
).mean()
