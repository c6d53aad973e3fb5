"""The data: batches of tokens, their mask, and the numbers of texts.

A sample is a row of texts: an anchor, a positive that belongs to it, and in triplets a negative
that does not. Tokens and mask have the shape (batch, texts, length). The mask is False where a
shorter text is padded. Equal texts have the same number: numbers have the shape (batch, texts).
"""

import random
import re
from collections.abc import Sequence
from functools import cache, partial
from zlib import crc32

import torch
from accelerate import PartialState
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, random_split

Row = tuple[str, ...]  # an anchor, its positive, and maybe a negative
Sample = tuple[Row, tuple[int, ...]]  # the texts of a row, and their numbers


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


def split_groups(groups: Sequence, shares: Sequence[float]) -> list[list[int]]:
    """The rows in parts with these shares of the groups, the same in each run."""
    rows: dict = {}
    for row, group in enumerate(groups):
        rows.setdefault(group, []).append(row)
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    parts = random_split(list(rows.values()), shares, generator=rng)
    return [[row for group in part for row in group] for part in parts]


def split_rows(rows: list, shares: list[float], source: str = "the data") -> list[list]:
    """The rows in splits of these sizes, the same in each run. `source` is for error messages."""
    if shares[0] == 1:  # the other splits have their own files
        return [rows, [], []]
    if len(rows) < 10:
        raise SystemExit(
            f"{source}: {len(rows)} rows can't be split into training, validation and test: use "
            "10 or more."
        )
    anchors = [row[0] for row in rows]
    if (count := len(set(anchors))) < 10:
        raise SystemExit(
            f"{source}: {count} different anchors can't be split into training, validation and "
            "test: use 10 or more."
        )
    return [[rows[row] for row in part] for part in split_groups(anchors, shares)]


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


PIECES, START = 4096, 0  # vocabulary size, and the token that starts each text


def encode(texts: Sequence[str], config) -> list[list[int]]:
    """The tokens of each text: words in pieces of eight letters, and other characters.

    The id of a piece is its hash, so no vocabulary is needed.
    """
    encoded = []
    for text in texts:
        pieces = re.findall(r"\w{1,8}|[^\w\s]", text)[: config.max_length - 1]
        numbers = [1 + crc32(piece.lower().encode()) % (PIECES - 1) for piece in pieces]
        encoded.append([START, *numbers])
    return encoded


def tokenize(texts: Sequence[str], config) -> tuple[Tensor, Tensor]:
    """The tokens of texts and their mask, shape (texts, longest)."""
    tokens = [torch.tensor(row) for row in encode(texts, config)]
    mask = [torch.ones_like(row, dtype=torch.bool) for row in tokens]
    return pad_sequence(tokens, batch_first=True), pad_sequence(mask, batch_first=True)


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


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """The training, validation and test loaders, before accelerator.prepare()."""
    train_set, val_set, test_set = build_datasets(config)
    collate_fn = partial(collate, config=config)
    if min(len(val_set), len(test_set)) < 2:
        PartialState().print(
            "a split of one pair has perfect metrics: there is no other text to compare it with"
        )
    train_loader = DataLoader(
        train_set,
        config.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=config.num_workers,
        collate_fn=collate_fn,
        generator=torch.Generator().manual_seed(config.seed),  # leaves dropout's RNG alone
    )
    settings = {
        "batch_size": 4 * config.batch_size,  # evaluation keeps no activations
        "num_workers": config.num_workers,
        "generator": torch.Generator(),  # else evaluating advances the RNG of dropout
    }
    val_loader = DataLoader(val_set, collate_fn=collate_fn, **settings)
    test_loader = DataLoader(test_set, collate_fn=collate_fn, **settings)
    return train_loader, val_loader, test_loader
