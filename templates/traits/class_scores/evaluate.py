from data import class_names
from metrics import classification_scores

#: replace logits
labels = batch.pop("labels")
logits = model(**batch).logits

#: replace summarize
def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples."""
    classes = 1 + int(max(columns["label"].max(), columns["prediction"].max()))
    scores = classification_scores(count_pairs(columns["label"], columns["prediction"], classes))
    return {"loss": float(columns["loss"].mean()), **scores}

#: replace names
names = class_names(config)
