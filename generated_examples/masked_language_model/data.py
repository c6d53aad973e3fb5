"""The data: batches of inputs, which are tokens, a mask, and targets, all of shape (batch, length).

Documents are cut into blocks of up to `max_length` tokens. Some tokens of a block are replaced by
the mask token: their targets are the original tokens. All other targets are IGNORED. The mask is
False where a shorter block is padded.

In evaluation, which tokens are replaced depends only on the block, so it is always the same. In
training, it also depends on the seed and the epoch.
"""

import random
import re
import sysconfig
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

from metrics import IGNORED


class Block(NamedTuple):
    """A part of a document, before masking."""

    tokens: Tensor  # (length,)
    words: Tensor  # the index of each token's word, (length,); -1: a special token
    seed: int  # determines which tokens are replaced


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


MASK = "[MASK]"  # marks a masked token in your texts


class Tokenizer:
    """Each byte of UTF-8 is a token, and one more token is the mask."""

    mask, size = 256, 257

    def encode(self, texts: list[str], length: int) -> Iterator[tuple[list[int], list[int]]]:
        """Blocks of up to `length` tokens, and the index of each token's word."""
        for text in texts:
            tokens = list(text.encode())
            pieces = enumerate(re.findall(r"\w+|\W", text))
            words = [number for number, piece in pieces for _ in piece.encode()]
            for start in range(0, len(tokens), length):
                end = start + length
                yield tokens[start:end], words[start:end]

    def encode_masked(self, text: str) -> list[int]:
        """The tokens of a text with the mask in it."""
        first, *others = (list(part.encode()) for part in text.split(MASK))
        return first + [token for part in others for token in (self.mask, *part)]

    def decode(self, tokens: list[int]) -> str:
        return bytes(token for token in tokens if token < 256).decode(errors="replace")


def build_tokenizer(config) -> Tokenizer:
    return Tokenizer()


class Blocks(Dataset):
    """Blocks of documents. The index of a block is its seed."""

    def __init__(self, documents: list[str], part: str, config) -> None:
        encoded = build_tokenizer(config).encode(documents, config.max_length)
        self.blocks = [torch.tensor(pair, dtype=torch.int32) for pair in encoded]
        if not self.blocks:
            raise SystemExit(f"The {part} data has no text.")

    def __len__(self) -> int:
        return len(self.blocks)

    def __getitem__(self, index: int) -> Block:
        return Block(*self.blocks[index].long(), index)


class NewMasks(Dataset):
    """Training blocks with other seeds in each epoch.

    A seed depends only on the seed of the run, the epoch and the index of the block, so the same
    tokens are replaced in a resumed run, and with any number of data workers and processes.
    """

    def __init__(self, blocks: Dataset, config) -> None:
        self.blocks, self.config, self.epoch = blocks, config, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.blocks)

    def __getitem__(self, index: int) -> Block:
        return self.blocks[index]._replace(seed=hash((self.config.seed, self.epoch, index)))


def mask_tokens(block: Block, config) -> tuple[Tensor, Tensor]:
    """Inputs and targets of a block, both of shape (length,).

    A fraction `mask_rate` of its tokens, at least one, has a target; with `whole_words`, words are
    chosen until this is reached. Of these tokens, 80 % are replaced by the mask token, 10 % by
    a random token, and 10 % stay (Devlin et al. 2019, https://arxiv.org/abs/1810.04805).
    """
    tokenizer = build_tokenizer(config)
    generator = torch.Generator().manual_seed(block.seed)
    places = (block.words >= 0).nonzero().squeeze(1)  # special tokens have no target
    units = torch.arange(len(places))
    if config.whole_words:
        units = block.words[places].unique(return_inverse=True)[1]
    sizes = units.bincount()
    order = torch.randperm(len(sizes), generator=generator)
    before = sizes[order].cumsum(dim=0) - sizes[order]  # tokens of the units that come first
    wanted = max(1, round(config.mask_rate * len(places)))
    chosen = places[torch.isin(units, order[before < wanted])]

    inputs, targets = block.tokens.clone(), torch.full_like(block.tokens, IGNORED)
    targets[chosen] = block.tokens[chosen]
    draw = torch.rand(len(chosen), generator=generator)
    others = torch.randint(tokenizer.size, (len(chosen),), generator=generator)
    inputs[chosen] = torch.where(draw < 0.9, others, inputs[chosen])
    inputs[chosen[draw < 0.8]] = tokenizer.mask
    return inputs, targets


@cache
def build_datasets(config) -> list[Blocks]:
    """Blocks of the training, validation and test documents."""
    names = ("training", "validation", "test")
    return [
        Blocks(documents, name, config)
        for documents, name in zip(read_documents(config), names, strict=True)
    ]


def pad(rows: Sequence[Tensor], value: int = 0) -> Tensor:
    """Rows padded to the same length, shape (batch, length)."""
    return pad_sequence(list(rows), batch_first=True, padding_value=value)


def mask_and_pad(blocks: list[Block], config) -> tuple[Tensor, Tensor, Tensor]:
    """A batch of inputs, their mask and their targets, padded to the longest block."""
    inputs, targets = zip(*(mask_tokens(block, config) for block in blocks), strict=True)
    return pad(inputs), pad([torch.ones_like(row) for row in inputs]).bool(), pad(targets, IGNORED)


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """The training, validation and test loaders, before accelerator.prepare()."""
    train_set, val_set, test_set = build_datasets(config)
    train_set = NewMasks(train_set, config)
    collate = partial(mask_and_pad, config=config)
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
