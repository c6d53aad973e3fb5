"""The data: batches of inputs, which are tokens, a mask, and targets, all of shape (batch, length).

A word has one or more tokens. The target of its first token is the index of its tag; those of all
other tokens are IGNORED. The mask is False where a shorter sentence is padded.
"""

import random
from functools import cache
from zlib import crc32

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, random_split

from metrics import IGNORED

Sentence = tuple[list[str], list[str]]  # words, and the tag of each
Sample = tuple[Tensor, Tensor]  # tokens and targets, both of shape (length,)


STARTS = "Bal Cor Dun Fen Gal Har Kel Lin Mar Nor Pel Quin Ros Sel Tor Ul Ver Wes Yar Zan"
ENDS = "by den dor fell gate ham ion lan mere mond nor ora port rick sen stead ton val wick"
CLAUSES = [
    "PER was born in LOC",
    "PER works for ORG",
    "PER , a painter from LOC , sued ORG",
    "ORG hired PER",
    "ORG opened an office near LOC",
    "ORG , the maker of clocks , bought ORG",
    "shares of ORG fell on Monday",
    "the mayor of LOC wrote to PER",
    "it rained in LOC all March",
    "the train from LOC to LOC was late",
    "LOC , which lies on a river , elected PER",
    "my uncle PER moved to LOC",
    "the lawyers of ORG called PER",
    "PER resigned as head of ORG",
    "the streets of LOC were empty",
    "nobody had heard of it before Easter",
]
LINKS = [",", ", and", ", but", "while", "because", "after"]


@cache
def load_sentences(config) -> list[list[Sentence]]:
    """5,000 sentences about people, organizations and places, in three splits.

    All types share the same names, so only the words around a name tell its type.
    """
    rng = random.Random(0)
    return split_rows([write_sentence(rng) for _ in range(5000)], [0.8, 0.1, 0.1])


def write_sentence(rng: random.Random) -> Sentence:
    """One or two clauses with made-up names of one or two words."""
    text = rng.choice(CLAUSES)
    if rng.random() < 0.5:
        text += f" {rng.choice(LINKS)} {rng.choice(CLAUSES)}"
    words, tags = [], []
    for word in f"{text} .".split():
        if word in ("PER", "ORG", "LOC"):
            names = [write_name(rng) for _ in range(rng.randint(1, 2))]
            words += names
            tags += [f"B-{word}", f"I-{word}"][: len(names)]
        else:
            words.append(word)
            tags.append("O")
    return [words[0].capitalize(), *words[1:]], tags


def write_name(rng: random.Random) -> str:
    return rng.choice(STARTS.split()) + rng.choice(ENDS.split())


def split_rows(rows: list, shares: list[float], source: str = "the data") -> list[list]:
    """The rows in splits of these sizes, the same in each run. `source` is for error messages."""
    if shares[0] == 1:  # the other splits have their own files
        return [rows, [], []]
    if len(rows) < 10:
        raise SystemExit(
            f"{source}: {len(rows)} sentences can't be split into training, validation and test: "
            "use 10 or more."
        )
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    return [list(part) for part in random_split(rows, shares, generator=rng)]


def tag_names(config) -> list[str]:
    """The tags. A target is an index into this list.

    O is outside entities. Each type has two tags: B- for the first word, and I- for the rest.
    """
    tags = {tag for part in load_sentences(config) for _, tags in part for tag in tags}
    types = sorted({tag[2:] for tag in tags if tag != "O"})
    return ["O", *(f"{place}-{kind}" for kind in types for place in "BI")]


PIECES, START = 4096, 0  # vocabulary size, and the token that starts each sentence


def encode(sentences: list[list[str]], config) -> list[tuple[list[int], list[int]]]:
    """The tokens of each sentence, and where each word starts among them.

    A token is a piece of up to four letters. Its id is its hash, so no vocabulary is needed;
    some pieces share an id.
    """
    encoded = []
    for words in sentences:
        tokens, starts = [START], []
        for word in words:
            starts.append(len(tokens))
            pieces = [word[first : first + 4] for first in range(0, max(len(word), 1), 4)]
            tokens += [1 + crc32(piece.encode()) % (PIECES - 1) for piece in pieces]
        starts = [start for start in starts if start < config.max_length]
        encoded.append((tokens[: config.max_length], starts))
    return encoded


@cache
def build_datasets(config) -> list[list[Sample]]:
    """Tokens and targets of each sentence, for training, validation and test."""
    numbers = {name: number for number, name in enumerate(tag_names(config))}
    parts = []
    for sentences in load_sentences(config):
        encoded = encode([words for words, _ in sentences], config)
        samples = []
        for (_, tags), (tokens, starts) in zip(sentences, encoded, strict=True):
            targets = torch.full((len(tokens),), IGNORED)
            for start, tag in zip(starts, tags, strict=False):  # a long sentence is cut
                targets[start] = numbers[tag]
            samples.append((torch.tensor(tokens), targets))
        parts.append(samples)
    return parts


def count_cut(config) -> list[int]:
    """How many words of the training, validation and test data are beyond --max-length."""
    counts = []
    for sentences, samples in zip(load_sentences(config), build_datasets(config), strict=True):
        words = sum(len(words) for words, _ in sentences)
        counts.append(words - sum(int((targets != IGNORED).sum()) for _, targets in samples))
    return counts


def collate(samples: list[Sample]) -> tuple[Tensor, Tensor, Tensor]:
    """A batch of tokens, their mask and their targets, padded to the longest sentence."""
    tokens, targets = zip(*samples, strict=True)
    mask = [torch.ones_like(row, dtype=torch.bool) for row in tokens]
    return (
        pad_sequence(tokens, batch_first=True),
        pad_sequence(mask, batch_first=True),
        pad_sequence(targets, batch_first=True, padding_value=IGNORED),
    )


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """The training, validation and test loaders, before accelerator.prepare()."""
    train_set, val_set, test_set = build_datasets(config)
    train_loader = DataLoader(
        train_set,
        config.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=config.num_workers,
        collate_fn=collate,
        generator=torch.Generator().manual_seed(config.seed),  # leaves dropout's RNG alone
    )
    settings = {
        "batch_size": 4 * config.batch_size,  # evaluation keeps no activations
        "num_workers": config.num_workers,
        "generator": torch.Generator(),  # else evaluating advances the RNG of dropout
    }
    val_loader = DataLoader(val_set, collate_fn=collate, **settings)
    test_loader = DataLoader(test_set, collate_fn=collate, **settings)
    return train_loader, val_loader, test_loader
