from sklearn.datasets import load_breast_cancer

from data import fit_columns

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

#: replace loss with distillation
logits = model(rows)
loss = compute_loss(
    logits, labels
    #: slot loss_arguments
).mean()

#: replace draw_confusion when dataset=breast_cancer with confusion_matrix
names = load_breast_cancer().target_names.tolist()
confusion_plot.draw(config.output_dir / "confusion.png", names)

#: replace draw_confusion when path=given with confusion_matrix
confusion_plot.draw(config.output_dir / "confusion.png", fit_columns(config).classes)
