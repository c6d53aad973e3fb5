from functools import cache


#: slot texts
@cache
def load_texts(config) -> list[list[Row]]:
    """The splits train, validation and test of a Hugging Face dataset.

    A split that is missing or has no labels, as in GLUE, is a tenth of the training data.
    """
    dataset = load_splits(config)
    parts = {part: read_rows(dataset[part], config) for part in dataset}
    train_rows = parts["train"]
    for part in ("validation", "test"):
        if not parts.get(part):
            train_rows, parts[part] = split_rows(train_rows, [0.9, 0.1])
    return [train_rows, parts["validation"], parts["test"]]


def read_rows(part, config) -> list[Row]:
    """Texts and {{ task.names }} of the samples that have {{ task.one }}."""
    text_columns = config.text_columns.split(",")
    for column in [*text_columns, config.{{ task.column.replace("-", "_") }}]:
        if column not in part.features:
            raise SystemExit(
                f"The dataset has no column {column!r}: it has {', '.join(part.features)}. "
                "Set --text-columns and --{{ task.column }}."
            )
    texts = list(zip(*(part[column] for column in text_columns), strict=True))
    for number, row in enumerate(texts, start=1):
        if not all(isinstance(text, str) for text in row):
            place = f"{config.dataset_name}, row {number} of {part.split}"
            raise SystemExit(f"{place}: {config.text_columns} is {row!r:.60}, not texts.")
    #: region read_labels
    labels = part[config.label_column]
    feature = part.features[config.label_column]
    if isinstance(feature, ClassLabel):
        names = dict(enumerate(feature.names))  # without -1, which means no label
    else:
        names = {label: str(label) for label in set(labels) - {None}}
    return [(row, names[label]) for row, label in zip(texts, labels, strict=True) if label in names]
    #: end read_labels
