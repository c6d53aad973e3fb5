
#: slot load_pairs
def load_pairs(config) -> list[list[tuple[str, str]]]:
    """The splits train, validation and test of a Hugging Face dataset."""
    splits = complete_splits(load_splits(config))
    names = (config.source_column, config.target_column)
    return [
        list(zip(*(read_column(splits[part], name) for name in names), strict=True))
        for part in ("train", "validation", "test")
    ]


def read_column(rows, name: str) -> list[str]:
    """The texts of a column. A dot selects a nested field: `translation.en`."""
    column, *inner = name.split(".")
    if column not in rows.column_names:
        raise SystemExit(
            f"The dataset has no column {column!r}: it has {', '.join(rows.column_names)}. "
            "Set --source-column and --target-column."
        )
    texts = rows[column]
    for key in inner:
        texts = [text.get(key) if isinstance(text, dict) else None for text in texts]
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise SystemExit(f"Row {number} of {name} is {text!r}, which is not text.")
    return list(texts)
