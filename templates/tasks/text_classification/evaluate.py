from data import load_texts
from model import Scale

#: slot table
rows = load_texts(config)[SPLITS.index(given.split)][: len(columns["loss"])]
table.setdefault("text", [" | ".join(texts) for texts, _ in rows])

#: replace logits when labels=many
labels = batch.pop("labels")
logits = model(**batch).logits

#: replace scale when labels=number
scale = Scale(accelerator.unwrap_model(model).config)

#: replace predictions when labels=number
targets = batch.pop("labels")
predictions = scale.restore(model(**batch).logits)
