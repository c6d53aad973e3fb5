from data import class_names
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
train_loss.add(loss, len(labels))
#: end add_loss

#: slot after_prepare when labels=number
scale = accelerator.unwrap_model(model).scale

#: replace add_loss when labels=number project.loop=complete
train_loss.add(loss, len(targets))

#: replace loss when labels=number
loss = compute_loss(model(images), targets, scale).mean()

#: replace loss with distillation without mixing
logits = model(images)
loss = compute_loss(
    logits, labels
    #: slot loss_arguments
).mean()

#: replace draw_confusion when dataset=image_folder|huggingface|csv with confusion_matrix
confusion_plot.draw(config.output_dir / "confusion.png", class_names(config))
