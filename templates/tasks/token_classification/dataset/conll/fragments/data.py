from pathlib import Path

#: slot load_sentences
@cache
def load_sentences(config) -> list[list[Sentence]]:
    """Sentences for training, validation and test. A split without a file is a tenth of `path`."""
    paths = [config.val_path, config.test_path]
    shares = [0.0 if path else 0.1 for path in paths]
    parts = split_rows(read_sentences(config.path, config), [1 - sum(shares), *shares])
    files = ["", *paths]
    return [
        read_sentences(path, config) if path else part
        for path, part in zip(files, parts, strict=True)
    ]


def read_sentences(path: str, config) -> list[Sentence]:
    """The sentences of a file in CoNLL columns, or of JSON lines if it ends in .jsonl."""
    sentences = []
    if path.endswith(".jsonl"):
        for place, row in read_objects(path):
            check_keys(row, [config.words_column, config.tags_column], place)
            words, tags = row[config.words_column], row[config.tags_column]
            sentences.append(check_sentence(words, tags, place))
    else:
        sentences = read_columns(path)
    if not (sentences := begin_entities(sentences, path)):
        raise SystemExit(f"{path} has no sentences.")
    return sentences


def check_keys(row: dict, columns: list[str], place: str) -> None:
    for column in columns:
        if column not in row:
            raise SystemExit(
                f"{place}: there is no {column!r} in {', '.join(row)}. "
                "Set --words-column and --tags-column."
            )


def read_columns(path: str) -> list[Sentence]:
    """Each line has a word in its first column and its tag in the last one.

    A blank line ends a sentence. Lines with -DOCSTART- are left out, and so are comments, which
    begin with # and don't end with a tag.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error
    sentences, words, tags, first = [], [], [], ()
    for number, line in enumerate([*lines, ""], start=1):
        place, line = f"{path}, line {number}", line.strip(" \t")  # a word may have other spaces
        cells = line.split("\t") if "\t" in line else re.findall("[^ ]+", line)
        if not cells:
            sentences.append((words, tags))
            words, tags = [], []
        elif cells[0] == "-DOCSTART-" or (
            line.startswith("#") and not re.fullmatch("O|[BI]-.+", cells[-1])
        ):
            continue
        elif len(cells) < 2 or len(cells) != len(first or cells):
            expected = f"{len(first)} columns, as before" if first else "a word and its tag"
            raise SystemExit(f"{place}: {line!r:.60} has {len(cells)} column(s), not {expected}.")
        else:
            first = first or cells
            words += cells[:1]
            tags += check_sentence(cells[:1], cells[-1:], place)[1]
    return sentences
