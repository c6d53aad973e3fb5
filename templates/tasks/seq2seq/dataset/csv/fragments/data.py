import csv
import json
from torch.utils.data import random_split

#: slot load_pairs
def read_pairs(path: str) -> list[tuple[str, str]]:
    """The rows of a file: a source and its target in each."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            if path.endswith(".jsonl"):
                pairs = [json.loads(line) for line in file if line.strip()]
                rows = [(str(pair["source"]), str(pair["target"])) for pair in pairs]
            else:
                rows = list(csv.reader(file, delimiter="\t" if path.endswith(".tsv") else ","))
    except (OSError, ValueError, TypeError, KeyError, csv.Error) as error:
        raise SystemExit(f"{path} can't be read: {error!r}") from error
    for number, row in enumerate(rows, start=1):
        if len(row) != 2:
            raise SystemExit(
                f"{path}: row {number} has {len(row)} columns. It needs two, a source and "
                "its target. Quote a text that has commas, or use a .tsv file with tabs."
            )
    return [(source, target) for source, target in rows]


def load_pairs(config) -> list[list[tuple[str, str]]]:
    """Pairs of texts for training, validation and test."""
    pairs = read_pairs(config.path)
    if len(pairs) < 10:
        raise SystemExit(f"{config.path} has {len(pairs)} rows: a split needs at least 10.")
    files = [config.val_path, config.test_path]
    shares = [0.0 if path else 0.1 for path in files]
    # a seed of its own: another --seed must not move test samples into the training data
    split = torch.Generator().manual_seed(0)
    parts = random_split(pairs, [1 - sum(shares), *shares], generator=split)
    # a part with a file of its own has no share of the rows
    return [
        read_pairs(path) if path else list(part)
        for path, part in zip(["", *files], parts, strict=True)
    ]
