
#: slot read_documents
def read_documents(config) -> list[list[str]]:
    """The documents of the splits train, validation and test: each row that is not empty."""
    splits = complete_splits(load_splits(config))
    names = splits["train"].column_names
    if config.text_column not in names:
        raise SystemExit(
            f"{config.dataset_name} has no column {config.text_column}: "
            f"--text-column names one of {', '.join(names)}."
        )
    parts = []
    for name in ("train", "validation", "test"):
        texts = [text for text in splits[name][config.text_column] if text]
        if not texts or not all(isinstance(text, str) for text in texts):
            raise SystemExit(
                f"{config.text_column} of the split {name} of {config.dataset_name} has no texts."
            )
        parts.append(texts)
    return parts
