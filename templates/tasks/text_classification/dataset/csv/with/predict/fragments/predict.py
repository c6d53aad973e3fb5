from data import read_lines, read_texts

#: slot functions
def split_text(text: str | tuple[str, ...], config: Config) -> tuple[str, ...]:
    """The texts of a line: one, or a tab-separated pair."""
    count = len(config.text_columns.split(","))
    texts = tuple(text.split("\t", count - 1)) if isinstance(text, str) else text
    if len(texts) != count:
        raise SystemExit(f"Write tab-separated pairs of texts, not {text!r}.")
    return texts

#: replace parts
parts = [split_text(text, config) for text in texts]

#: slot text
text = "\t".join(split_text(text, config))

#: slot files
elif name.endswith((".csv", ".tsv", ".jsonl")):
    lines = read_lines(name, config.text_columns.split(","))
    texts += [read_texts(row, place, config) for place, row in lines]
