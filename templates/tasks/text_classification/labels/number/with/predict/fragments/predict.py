from model import Scale

#: replace names
scale = Scale(model.config)

#: replace outputs
predictions = scale.restore(model(**batch.to(device)).logits.cpu().double())
for text, prediction in zip(texts, predictions.tolist(), strict=True):
    #: slot text
    rows.append({"text": text, "prediction": prediction})
