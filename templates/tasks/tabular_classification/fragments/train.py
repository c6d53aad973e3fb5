#: slot forward
#: region loss
loss = compute_loss(
    model(rows), labels
    #: slot loss_arguments
).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(labels))
#: end add_loss
