#: file without image_texts
"""The data: batches of tokens, their mask, and the numbers of texts.

A sample is a row of texts: an anchor, a positive that belongs to it, and in triplets a negative
that does not. Tokens and mask have the shape (batch, texts, length). The mask is False where a
shorter text is padded. Equal texts have the same number: numbers have the shape (batch, texts).
"""

from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

Row = tuple[str, ...]  # an anchor, its positive, and maybe a negative
Sample = tuple[Row, tuple[int, ...]]  # the texts of a row, and their numbers


#: slot load_splits


#: slot load_rows


#: slot read_rows


#: slot row_readers


#: slot check_row


#: slot split_rows


@cache
def number_texts(config) -> dict[str, int]:
    """The number of each text of all parts."""
    texts = (text for part in load_rows(config) for row in part for text in row)
    return {text: number for number, text in enumerate(dict.fromkeys(texts))}


@cache
def build_datasets(config) -> list[list[Sample]]:
    """The rows for training, validation and test, each with the numbers of its texts."""
    numbers = number_texts(config)
    parts = load_rows(config)
    return [[(row, tuple(numbers[text] for text in row)) for row in part] for part in parts]


#: slot tokenizer


#: slot tokenize


def collate(samples: list[Sample], config) -> tuple[Tensor, Tensor, Tensor]:
    """A batch of tokens, their mask, and the numbers of the texts."""
    rows, numbers = zip(*samples, strict=True)
    tokens, mask = tokenize([text for row in rows for text in row], config)
    shape = (len(rows), len(rows[0]))
    return tokens.unflatten(0, shape), mask.unflatten(0, shape), torch.tensor(numbers)


def count_cut(config) -> int:
    """How many texts of the first 1,000 training rows fill --max-length."""
    texts = [text for row in load_rows(config)[0][:1000] for text in row]
    _, mask = tokenize(texts, config)
    return int((mask.sum(dim=1) == config.max_length).sum())


#: slot datasets


#: slot build_loaders
#: end file

import random

from lib.hub import load_splits
from lib.json_lines import holds_objects, read_objects
from lib.notes import note_ignored
from lib.rows import check_row
from lib.splits import split_groups
from lib.tables import read_table

#: replace divide
anchors = [row[0] for row in rows]
if (count := len(set(anchors))) < 10:
    raise SystemExit(
        f"{source}: {count} different anchors can't be split into training, validation and "
        "test: use 10 or more."
    )
return [[rows[row] for row in part] for part in split_groups(anchors, shares)]

#: slot load_rows when dataset=huggingface
@cache
def load_rows(config) -> list[list[Row]]:
    """The splits train, validation (or dev) and test of a Hugging Face dataset.

    A missing split is replaced by a tenth of the training data.
    """
    name, columns = config.dataset_name, config.text_columns.split(",")
    dataset = load_splits(config)
    parts = {
        {"dev": "validation"}.get(part, part): [
            check_row(row, columns, f"{name}, {part}, row {number}", "--text-columns")
            for number, row in enumerate(dataset[part], start=1)
        ]
        for part in dataset
    }
    train_rows = parts["train"]
    for part in ("validation", "test"):
        if not parts.get(part):
            train_rows, parts[part] = split_rows(train_rows, [0.9, 0.1], name)
    return [train_rows, parts["validation"], parts["test"]]

#: slot load_rows when dataset=paraphrases
# in each pair, the first word is for the anchor and the second for the positive
WORDS = """
doctor physician, teacher schoolmaster, lawyer attorney, child kid, cook chef, sailor seaman,
writer author, thief burglar, boss chief, soldier trooper, friend buddy, woman lady

bought purchased, repaired fixed, lost mislaid, found discovered, stole nicked, painted coloured,
sold traded, hid concealed, built constructed, broke smashed, chose picked, carried transported

car automobile, picture drawing, hat cap, boat vessel, gift present, stone rock, bag sack,
sofa couch, lamp light, letter message, coat jacket, pot kettle

forest wood, house building, shop store, city town, field meadow, street road, harbour port,
church chapel, garden yard, hill slope, cellar basement, kitchen galley

monday 1, tuesday 2, wednesday 3, thursday 4, friday 5, saturday 6, sunday 7
"""
ANCHOR = "The {} {} the {} at the {} on {}."
POSITIVE = "Day {4}, near our {3}: some {2} was {1} by their {0}"


@cache
def load_rows(config) -> list[list[Row]]:
    """4,000 sentences, each with a paraphrase, in three splits.

    The two share no word. Each of five words has a synonym, which only the pairs reveal.
    """
    pairs = [[pair.split() for pair in words.split(",")] for words in WORDS.split("\n\n")]
    rng, rows = random.Random(0), {}
    while len(rows) < 4000:
        firsts, seconds = zip(*(rng.choice(words) for words in pairs), strict=True)
        rows[ANCHOR.format(*firsts)] = POSITIVE.format(*seconds)
    return split_rows(list(rows.items()), [0.8, 0.1, 0.1])

#: slot load_rows when dataset=files
@cache
def load_rows(config) -> list[list[Row]]:
    """Rows for training, validation and test. A split without a file is a tenth of `path`."""
    paths = [config.val_path, config.test_path]
    shares = [0.0 if path else 0.1 for path in paths]
    parts = split_rows(read_rows(config.path, config), [1 - sum(shares), *shares], config.path)
    files = ["", *paths]
    return [
        read_rows(path, config) if path else part for path, part in zip(files, parts, strict=True)
    ]

#: slot read_rows when dataset=files
def read_rows(path: str, config) -> list[Row]:
    """The texts of each row of a file."""
    columns = config.text_columns.split(",")
    found = read_objects(path) if holds_objects(path) else read_table(path)
    found = list(found)
    note_ignored(path, (name for _, row in found for name in row), columns)
    rows = [check_row(row, columns, place, "--text-columns") for place, row in found]
    if not rows:
        raise SystemExit(f"{path} has no rows.")
    return rows
