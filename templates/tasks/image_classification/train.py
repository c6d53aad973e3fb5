from resizing import resize

#: slot forward with progressive_resizing
images = resize(images, epoch, config)

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

#: slot after_prepare when labels=number
scale = accelerator.unwrap_model(model).scale

#: replace loss when labels=number
loss = compute_loss(model(images), targets, scale).mean()

#: replace loss with distillation without mixing
logits = model(images)
loss = compute_loss(
    logits, labels
    #: slot loss_arguments
).mean()
