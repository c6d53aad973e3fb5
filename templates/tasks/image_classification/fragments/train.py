#: slot forward
#: region loss
loss = compute_loss(
    model(images), labels
    #: slot loss_arguments
).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len({{ task.batch.split(", ")[-1] }}))
#: end add_loss
