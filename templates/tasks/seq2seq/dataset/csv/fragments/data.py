import csv
from torch.utils.data import random_split

#: slot load_pairs
def read_pairs(path: str) -> list[tuple[str, str]]:
    """The source and the target of each row of a file."""
    if not (pairs := read_keys(path) if path.endswith(".jsonl") else read_columns(path)):
        raise SystemExit(f"{path} has no rows.")
    return pairs


def read_keys(path: str) -> list[tuple[str, str]]:
    """The `source` and `target` of the objects in a .jsonl file."""
    pairs = []
    for place, row in read_objects(path):
        for key in ("source", "target"):
            if not isinstance(row.get(key), str):
                raise SystemExit(f"{place}: its {key} is not text, but {row.get(key)!r:.60}.")
        pairs.append((row["source"], row["target"]))
    return pairs


def read_columns(path: str) -> list[tuple[str, str]]:
    """The rows of a .csv or .tsv file.

    Its first line may name the columns, `source` and `target`, in any order.
    """
    csv.field_size_limit(2**31 - 1)  # texts may be longer than 128 kB
    pairs = []
    try:
        style = read_style(path)
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, **style)
            for row in rows:
                if len(row) == 2:
                    unquoted = map(unquote, row) if "quoting" in style else row
                    pairs.append(tuple(unquoted))
                elif row:  # not an empty line
                    raise SystemExit(
                        f"{path}, line {rows.line_num} has {len(row)} columns. It needs two, a "
                        "source and its target. Quote a text that has commas, or use a .tsv file "
                        "with tabs."
                    )
    except csv.Error as error:
        raise SystemExit(f"{path}, line {rows.line_num} is not a table: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error
    names = [name.strip().lower() for name in pairs[0]] if pairs else []
    if sorted(names) != ["source", "target"]:
        return pairs
    return pairs[1:] if names[0] == "source" else [(row[1], row[0]) for row in pairs[1:]]


def load_pairs(config) -> list[list[tuple[str, str]]]:
    """Pairs of texts for training, validation and test."""
    files = [config.val_path, config.test_path]
    shares = [0.0 if path else 0.1 for path in files]
    pairs = read_pairs(config.path)
    if len(pairs) < 10 and sum(shares):
        raise SystemExit(f"{config.path} has {len(pairs)} rows: a split needs at least 10.")
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    parts = random_split(pairs, [1 - sum(shares), *shares], generator=rng)
    # a split with its own file gets no share of the rows
    return [
        read_pairs(path) if path else list(part)
        for path, part in zip(["", *files], parts, strict=True)
    ]
