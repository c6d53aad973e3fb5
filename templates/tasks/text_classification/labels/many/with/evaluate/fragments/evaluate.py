#: replace logits
labels = batch.pop("labels")
logits = model(**batch).logits
