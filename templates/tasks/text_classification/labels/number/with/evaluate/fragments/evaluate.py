from model import Scale

#: replace scale
scale = Scale(accelerator.unwrap_model(model).config)

#: replace predictions
targets = batch.pop("labels")
predictions = scale.restore(model(**batch).logits)
