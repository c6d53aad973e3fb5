"""The data: batches of inputs and targets, tokens of shape (batch, length).

The target of each token is the token after it. Documents are cut into blocks of `context` tokens.
The last block of a document is shorter: it is padded, and the targets there are IGNORED.
"""

import random
import sysconfig
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

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
    """Blocks of documents: up to `context` tokens, and the token after them."""

    def __init__(self, documents, config) -> None:
        tokenizer = build_tokenizer(config)
        self.blocks: list[Tensor] = []
        for document in documents:
            # a document starts with the end token of the one before it
            tokens = [tokenizer.end, *tokenizer.encode(document), tokenizer.end]
            tokens = torch.tensor(tokens, dtype=torch.int32)
            starts = range(0, len(tokens) - 1, config.context)
            self.blocks += [tokens[start : start + config.context + 1] for start in starts]

    def __len__(self) -> int:
        return len(self.blocks)

    def __getitem__(self, index: int) -> Tensor:
        return self.blocks[index].long()


def collate(blocks: list[Tensor]) -> tuple[Tensor, Tensor]:
    """A batch of inputs and targets, padded to the longest block."""
    inputs = pad_sequence([block[:-1] for block in blocks], batch_first=True)
    targets = [block[1:] for block in blocks]
    return inputs, pad_sequence(targets, batch_first=True, padding_value=IGNORED)


def build_datasets(config) -> list[Dataset]:
    """Blocks of the training, validation and test documents."""
    return [Blocks(documents, config) for documents in read_documents(config)]


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
    # larger batches fit in memory, because no activations are kept
    settings = {"batch_size": 4 * config.batch_size, "num_workers": config.num_workers}
    settings["generator"] = torch.Generator()  # else evaluating advances the RNG of dropout
    val_loader = DataLoader(val_set, collate_fn=collate, **settings)
    test_loader = DataLoader(test_set, collate_fn=collate, **settings)
    return train_loader, val_loader, test_loader
