from datasets import ClassLabel

#: slot load_sentences
@cache
def load_sentences(config) -> list[list[Sentence]]:
    """The splits train, validation and test of a Hugging Face dataset.

    A missing split is replaced by a tenth of the training data.
    """
    name = config.dataset_name
    dataset = load_splits(config)
    parts = {
        part: read_rows(dataset[part], f"{name}, {part}", config)
        for part in ("train", "validation", "test")
        if part in dataset
    }
    train_rows = parts["train"]
    for part in ("validation", "test"):
        if not parts.get(part):
            train_rows, parts[part] = split_rows(train_rows, [0.9, 0.1])
    return [train_rows, parts["validation"], parts["test"]]


def read_rows(part, source: str, config) -> list[Sentence]:
    """The words and tags of each row. Tags are names, or numbers whose names the dataset has."""
    for column in (config.words_column, config.tags_column):
        if column not in part.features:
            raise SystemExit(
                f"The dataset has no column {column!r}: it has {', '.join(part.features)}. "
                "Set --words-column and --tags-column."
            )
    tag = getattr(part.features[config.tags_column], "feature", None)
    names = dict(enumerate(tag.names)) if isinstance(tag, ClassLabel) else {}
    columns = (part[column] for column in (config.words_column, config.tags_column))
    sentences = [
        check_sentence(words, [names.get(tag, tag) for tag in tags], f"{source}, row {number}")
        for number, (words, tags) in enumerate(zip(*columns, strict=True), start=1)
    ]
    return begin_entities(sentences, source)
