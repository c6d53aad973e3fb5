#: file
"""The data: batches of sources, inputs and targets, tokens of shape (batch, length).

The inputs of the decoder are the targets shifted by one: a start token and all tokens but the last.
Shorter sources and inputs are padded, and shorter targets with IGNORED.
"""

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

from metrics import IGNORED

#: slot load_splits


#: slot load_pairs


#: slot row_readers


class Pairs(Dataset):
    """Sources and targets as tokens, each with an end token."""

    #: slot encode_pairs
    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: int) -> list[Tensor]:
        return self.pairs[index]


#: slot collate


def build_datasets(config) -> list[Dataset]:
    """Pairs for training, validation and test."""
    #: region datasets
    return [Pairs(pairs) for pairs in load_pairs(config)]
    #: end datasets


#: slot datasets


#: slot build_loaders
#: end file

import random
from datetime import date, timedelta
from functools import partial

from torch.utils.data import random_split

from lib.hub import load_splits
from lib.json_lines import holds_objects, read_objects
from lib.names import describe_parts
from lib.notes import note_ignored
from lib.samples import pad
from lib.splits import complete_parts
from lib.tables import read_table
from accelerate import PartialState
from model import END, PADDING, START, Tokenizer, build_tokenizer

#: slot load_pairs when dataset=dates
def load_pairs(config) -> list[list[tuple[str, str]]]:
    """10,000 different dates, as people write them and as 1998-03-14, in three splits."""
    rng = random.Random(0)
    days = rng.sample(range(200 * 365), 10_000)
    dates = [date(1900, 1, 1) + timedelta(days=day) for day in days]
    pairs = [(write(day, rng), day.isoformat()) for day in dates]
    # a fixed seed: another --seed must not move test samples into the training data
    split = torch.Generator().manual_seed(0)
    return [list(part) for part in random_split(pairs, [0.8, 0.1, 0.1], generator=split)]


def write(day: date, rng: random.Random) -> str:
    """The date in one of seven forms: 3/14/1998 is American, 14.3.1998 European."""
    number = day.day
    ending = "th" if 10 < number < 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return rng.choice(
        [
            f"{number} {day:%B %Y}",
            f"{number}{ending} of {day:%B, %Y}",
            f"{day:%B} {number}, {day:%Y}",
            f"{day:%A}, {day:%B} {number}{ending}, {day:%Y}",
            f"{number}-{day:%b-%Y}",
            f"{number}.{day.month}.{day:%Y}",
            f"{day.month}/{number}/{day:%Y}",
        ]
    )

#: slot load_pairs when dataset=csv
def read_pairs(path: str, config) -> list[tuple[str, str]]:
    """The source and the target of each row of a file."""
    rows = list(read_objects(path) if holds_objects(path) else read_table(path))
    if not rows:
        raise SystemExit(f"{path} has no rows.")
    columns = [config.source_column, config.target_column]
    pairs = []
    for place, row in rows:
        for column in columns:
            if column not in row:
                raise SystemExit(
                    f"{place}: there is no {column!r} in {', '.join(map(str, row))}: the first "
                    f"line of a table names its columns. Add {','.join(columns)} above it, or set "
                    "--source-column and --target-column."
                )
            if not isinstance(row[column], str) or not row[column].strip():
                raise SystemExit(f"{place}: its {column} is not text, but {row[column]!r:.60}.")
        pairs.append((row[columns[0]], row[columns[1]]))
    note_ignored(path, (name for _, row in rows for name in row), columns)
    return pairs


def load_pairs(config) -> list[list[tuple[str, str]]]:
    """Pairs of texts for training, validation and test."""
    pairs, *apart = (
        read_pairs(path, config) if path else []
        for path in (config.path, config.val_path, config.test_path)
    )
    few = f"{config.path} has {len(pairs)} rows: a split needs at least 10."
    return [list(part) for part in complete_parts(pairs, apart, few)]

#: slot load_pairs when dataset=huggingface
def load_pairs(config) -> list[list[tuple[str, str]]]:
    """The splits train, validation and test of a Hugging Face dataset."""
    splits, names = load_splits(config), (config.source_column, config.target_column)
    found = []
    for part in ("train", "validation", "test"):
        source, rows = f"{config.dataset_name}, {part}", splits.get(part)
        columns = [read_column(rows, name, source) for name in names] if rows else [[], []]
        found.append(list(zip(*columns, strict=True)))
    few = f"{config.dataset_name} has {len(found[0])} pairs: a split needs at least 10."
    return [list(part) for part in complete_parts(found[0], found[1:], few)]


def read_column(rows, name: str, source: str) -> list[str]:
    """The texts of a column. A dot selects a nested field: `translation.en`."""
    column, *inner = name.split(".")
    if column not in rows.column_names:
        raise SystemExit(
            f"{source} has no column {column!r}, only {', '.join(rows.column_names)}. "
            "Set --source-column and --target-column."
        )
    texts = rows[column]
    for key in inner:
        texts = [text.get(key) if isinstance(text, dict) else None for text in texts]
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise SystemExit(f"{source}, row {number}: its {name} is {text!r:.60}, not text.")
    return list(texts)

#: slot encode_pairs when model=transformer
def __init__(self, pairs: list[tuple[str, str]]) -> None:
    self.pairs = [[encode(text) for text in pair] for pair in pairs]

#: slot collate when model=transformer
def encode(text: str) -> Tensor:
    """The bytes of a text, and END."""
    return torch.tensor([*text.encode(), END])


def collate(pairs: list[list[Tensor]]) -> tuple[Tensor, Tensor, Tensor]:
    """A batch of sources, inputs and targets, each padded to the longest."""
    sources, targets = zip(*pairs, strict=True)
    start = torch.tensor([START])
    inputs = [torch.cat([start, target[:-1]]) for target in targets]
    #: region padding
    return (
        pad_sequence(sources, batch_first=True, padding_value=PADDING),
        pad_sequence(inputs, batch_first=True, padding_value=PADDING),
        pad_sequence(targets, batch_first=True, padding_value=IGNORED),
    )
    #: end padding

#: slot encode_pairs when model=pretrained
def __init__(self, pairs: list[tuple[str, str]], tokenizer: Tokenizer) -> None:
    sources = tokenizer.encode_sources([source for source, _ in pairs])
    targets = tokenizer.encode_targets([target for _, target in pairs])
    start = torch.tensor([tokenizer.start])
    inputs = [torch.cat([start, target[:-1]]) for target in targets]
    self.pairs = list(zip(sources, inputs, targets, strict=True))

#: slot collate when model=pretrained
def collate_pairs(pairs: list[list[Tensor]], padding: int) -> tuple[Tensor, Tensor, Tensor]:
    """A batch of sources, inputs and targets, each padded to the longest."""
    sources, inputs, targets = zip(*pairs, strict=True)
    #: region padding
    return (
        pad_sequence(sources, batch_first=True, padding_value=padding),
        pad_sequence(inputs, batch_first=True, padding_value=padding),
        pad_sequence(targets, batch_first=True, padding_value=IGNORED),
    )
    #: end padding

#: replace datasets when model=pretrained
tokenizer = build_tokenizer(config)
return [Pairs(pairs, tokenizer) for pairs in load_pairs(config)]

#: slot after_datasets when model=pretrained
collate = partial(collate_pairs, padding=build_tokenizer(config).padding)

#: replace padding when model=transformer with tpu
return pad(sources, PADDING), pad(inputs, PADDING), pad(targets, IGNORED)

#: replace padding when model=pretrained with tpu
return pad(sources, padding), pad(inputs, padding), pad(targets, IGNORED)

#: slot after_datasets when dataset=csv|huggingface
PartialState().print(describe_parts("pairs", (len(part) for part in (train_set, val_set, test_set)), config))
