
#: slot load_rows
@cache
def load_rows(config) -> list[list[Row]]:
    """The splits train, validation (or dev) and test of a Hugging Face dataset.

    A missing split is replaced by a tenth of the training data.
    """
    name, columns = config.dataset_name, config.text_columns.split(",")
    dataset = load_splits(config)
    parts = {
        {"dev": "validation"}.get(part, part): [
            check_row(row, columns, f"{name}, {part}, row {number}")
            for number, row in enumerate(dataset[part], start=1)
        ]
        for part in dataset
    }
    train_rows = parts["train"]
    for part in ("validation", "test"):
        if not parts.get(part):
            train_rows, parts[part] = split_rows(train_rows, [0.9, 0.1])
    return [train_rows, parts["validation"], parts["test"]]
