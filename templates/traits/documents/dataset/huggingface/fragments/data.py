
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
    columns = [splits[name][config.text_column] for name in ("train", "validation", "test")]
    return [[text for text in column if text] for column in columns]
