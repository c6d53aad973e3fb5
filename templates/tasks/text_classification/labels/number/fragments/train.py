from model import Scale

#: replace scale
scale = Scale(accelerator.unwrap_model(model).config)

#: replace gathered
targets = batch.pop("labels")
predictions = scale.restore(model(**batch).logits)
predictions, targets = accelerator.gather_for_metrics((predictions, targets))

#: replace loss
loss = compute_loss(scale.restore(logits), labels, scale).mean()

#: slot before_training
scale = Scale(accelerator.unwrap_model(model).config)
