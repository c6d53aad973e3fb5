"""The data: batches of token ids and their mask, shape (batch, longest text), and labels, (batch,).

Batches are dictionaries with the argument names of transformers.
"""

import sysconfig
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

import torch
from torch import Tensor
from torch.utils.data import DataLoader, random_split
from transformers import PreTrainedTokenizerBase, RobertaTokenizer

Row = tuple[tuple[str, ...], str]  # a text or a pair of texts, and the name of its class
Sample = tuple[tuple[str, ...], int]  # the same with a label, an index into the names


PACKAGES = [
    "asyncio",
    "email",
    "http",
    "importlib",
    "logging",
    "multiprocessing",
    "unittest",
    "xml",
]


@cache
def load_texts(config) -> list[list[Row]]:
    """Paragraphs of Python's own library, each with its package, in three parts."""
    library = Path(sysconfig.get_path("stdlib"))
    found = {}  # a dictionary drops duplicates
    for package in PACKAGES:
        for path in sorted((library / package).rglob("*.py")):
            if "test" not in path.parts:  # some systems don't install the tests
                for paragraph in path.read_text(encoding="utf-8").split("\n\n"):
                    if len(paragraph.split()) >= 8:
                        found[(paragraph,)] = package
    return split_rows(list(found.items()), [0.8, 0.1, 0.1])


def split_rows(rows: list, shares: list[float], source: str = "the data") -> list[list]:
    """The rows in splits of these sizes, the same in each run. `source` is for error messages."""
    if shares[0] == 1:  # the other splits have their own files
        return [rows, [], []]
    if len(rows) < 10:
        raise SystemExit(
            f"{source}: {len(rows)} texts can't be split into training, validation and test: use "
            "10 or more."
        )
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    return [list(part) for part in random_split(rows, shares, generator=rng)]


def class_names(config) -> list[str]:
    """The names of the classes. A label is an index into this list."""
    return sorted({name for part in load_texts(config) for _, name in part})


def build_tokenizer(config) -> PreTrainedTokenizerBase:
    """A tokenizer like RoBERTa's, trained on the training data."""
    return train_tokenizer(tuple(text for texts, _ in load_texts(config)[0] for text in texts))


@cache
def train_tokenizer(texts: tuple[str, ...]) -> PreTrainedTokenizerBase:
    tokenizer = RobertaTokenizer()
    return tokenizer.train_new_from_iterator(texts, vocab_size=4096, show_progress=False)


def build_datasets(config) -> list[list[Sample]]:
    """Training, validation and test data: the text of each sample, or a pair, and its label."""
    labels = {name: label for label, name in enumerate(class_names(config))}
    return [[(texts, labels[name]) for texts, name in part] for part in load_texts(config)]


def collate(
    rows: list[Sample], tokenizer: PreTrainedTokenizerBase, max_length: int
) -> dict[str, Tensor]:
    """A batch of texts, padded to the longest, and their labels."""
    texts, labels = zip(*rows, strict=True)
    return {**tokenize(texts, tokenizer, max_length), "labels": torch.tensor(labels)}


def tokenize(
    texts: Sequence[tuple[str, ...]], tokenizer: PreTrainedTokenizerBase, max_length: int
) -> dict[str, Tensor]:
    """The token ids of texts, or of pairs, and their mask, padded to the longest."""
    columns = [list(column) for column in zip(*texts, strict=True)]
    settings = {"padding": True, "truncation": True, "max_length": max_length}
    return tokenizer(*columns, return_tensors="pt", **settings)


def count_cut(config) -> int:
    """How many of the first 1,000 training texts fill --max-length."""
    texts = [texts for texts, _ in load_texts(config)[0][:1000]]
    mask = tokenize(texts, build_tokenizer(config), config.max_length)["attention_mask"]
    return int((mask.sum(dim=1) == config.max_length).sum())


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """The training, validation and test loaders, before accelerator.prepare()."""
    train_set, val_set, test_set = build_datasets(config)
    tokenizer = build_tokenizer(config)
    collate_fn = partial(collate, tokenizer=tokenizer, max_length=config.max_length)
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
