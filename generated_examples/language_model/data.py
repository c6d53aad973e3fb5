"""The data: batches of inputs and targets, tokens of shape (batch, length).

The target of each token is the token after it. Documents are cut into blocks of `context` tokens.
The last block of a document is shorter: it is padded, and the targets there are IGNORED.
"""

import random
import sysconfig
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

from documents import Documents, encode_documents
from metrics import IGNORED
from model import build_tokenizer

PACKAGES = [".", "asyncio", "concurrent/futures", "ctypes", "email", "http", "importlib"]
PACKAGES += ["json", "logging", "multiprocessing", "sqlite3", "unittest", "urllib", "wsgiref"]


def read_documents(config) -> list[list[str]]:
    """The smaller modules of Python's standard library, for training, validation and test.

    They differ slightly between Python versions.
    """
    library = Path(sysconfig.get_paths()["stdlib"])
    paths = sorted(path for package in PACKAGES for path in (library / package).glob("[a-z]*.py"))
    # a fixed seed: another --seed must not move test documents into the training data
    random.Random(0).shuffle(paths)
    documents = [path.read_text(encoding="utf-8") for path in paths if path.stat().st_size < 9000]
    tenth = len(documents) // 10
    return [documents[2 * tenth :], documents[:tenth], documents[tenth : 2 * tenth]]


class Blocks(Dataset):
    """Blocks of documents: up to `context` tokens, and what comes before them."""

    def __init__(self, documents: Documents, config) -> None:
        tokenizer = build_tokenizer(config)
        self.start, self.end = tokenizer.start, tokenizer.end
        self.goes_on = not tokenizer.bos  # without <bos>, the token before a block is its first
        self.documents, self.context = documents, config.context
        lengths = documents.spans[:, 1] - documents.spans[:, 0] + 1  # each has an end token
        self.blocks = np.cumsum(-(-lengths // config.context))  # up to the end of each document

    def __len__(self) -> int:
        return int(self.blocks[-1]) if len(self.blocks) else 0

    def __getitem__(self, index: int) -> Tensor:
        document = int(np.searchsorted(self.blocks, index, side="right"))
        start = (index - int(self.blocks[document - 1]) if document else index) * self.context
        goes_on = start > 0 and self.goes_on
        tokens = self.documents.read(document, start - goes_on, start + self.context).tolist()
        tokens = tokens if goes_on else [*self.start, *tokens]
        is_whole = len(tokens) == self.context + (1 if goes_on else len(self.start))
        return torch.tensor(tokens if is_whole else [*tokens, self.end])


def collate(blocks: list[Tensor]) -> tuple[Tensor, Tensor]:
    """A batch of inputs and targets, padded to the longest block."""
    inputs = pad_sequence([block[:-1] for block in blocks], batch_first=True)
    targets = [block[1:] for block in blocks]
    return inputs, pad_sequence(targets, batch_first=True, padding_value=IGNORED)


def load_documents(config) -> list[Documents]:
    """The tokens of the training, validation and test documents."""
    tokenizer = build_tokenizer(config)
    return [encode_documents(texts, tokenizer) for texts in read_documents(config)]


def build_datasets(config) -> list[Dataset]:
    """Blocks of the training, validation and test documents."""
    return [Blocks(documents, config) for documents in load_documents(config)]


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
