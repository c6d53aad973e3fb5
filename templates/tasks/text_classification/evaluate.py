import torch
from torch.utils.data import random_split

from data import class_names, list_rows, load_texts
from lib.metrics import classification_scores
from lib.splits import find_shares, split_by_class
from model import Scale

#: slot table when dataset=csv
for name, values in read_columns(config, given.split).items():
    table.setdefault(name, values[: len(columns["loss"])])

#: slot table
rows = load_texts(config)[SPLITS.index(given.split)][: len(columns["loss"])]
table.setdefault("text", [" | ".join(texts) for texts, _ in rows])

#: replace logits with class_counts
labels = batch.pop("labels")
logits = model(**batch).logits

#: replace scale when labels=number
scale = Scale(accelerator.unwrap_model(model).config)

#: replace predictions when labels=number
targets = batch.pop("labels")
predictions = scale.restore(model(**batch).logits)

#: replace summarize with labels
def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples."""
    classes = 1 + int(max(columns["label"].max(), columns["prediction"].max()))
    scores = classification_scores(count_pairs(columns["label"], columns["prediction"], classes))
    return {"loss": float(columns["loss"].mean()), **scores}

#: replace names with labels
names = class_names(config)

#: slot functions when dataset=csv
def read_columns(config: Config, split: str) -> dict[str, list[str]]:
    """All columns of the files of the data, for the rows of a split."""
    files, part = [config.path, config.val_path, config.test_path], SPLITS.index(split)
    if part and files[part]:
        lines = list_rows(files[part])
    else:  # a share of the first file, as in data.py
        shares = find_shares(files[1:], config)
        first = list_rows(files[0])
        #: region divide
        rng = torch.Generator().manual_seed(0)
        lines = random_split(first, [1 - sum(shares), *shares], generator=rng)[part]
        #: end divide
    return {name: [str(line.get(name)) for line in lines] for name in lines[0]}

#: replace divide when dataset=csv labels=one
labels = [str(line[config.label_column]) for line in first]
lines = [first[number] for number in split_by_class(labels, shares)[part]]
