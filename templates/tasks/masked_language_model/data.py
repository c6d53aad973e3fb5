#: file
"""The data: batches of inputs, which are tokens, a mask, and targets, all of shape (batch, length).

Documents are cut into blocks of up to `max_length` tokens. Some tokens of a block are replaced by
the mask token: their targets are the original tokens. All other targets are IGNORED. The mask is
False where a shorter block is padded.

In evaluation, which tokens are replaced depends only on the block, so it is always the same. In
training, it also depends on the seed and the epoch.
"""

from functools import cache, partial
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

from metrics import IGNORED
from lib.samples import pad


class Block(NamedTuple):
    """A part of a document, before masking."""

    tokens: Tensor  # (length,)
    words: Tensor  # the index of each token's word, (length,); -1: a special token
    seed: int  # determines which tokens are replaced


#: slot load_splits


#: slot read_documents


#: slot row_readers


#: slot tokenizer


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


def mask_and_pad(blocks: list[Block], config) -> tuple[Tensor, Tensor, Tensor]:
    """A batch of inputs, their mask and their targets, padded to the longest block."""
    inputs, targets = zip(*(mask_tokens(block, config) for block in blocks), strict=True)
    return pad(inputs), pad([torch.ones_like(row) for row in inputs]).bool(), pad(targets, IGNORED)


#: slot datasets


#: slot build_loaders
#: end file

import re
from collections.abc import Iterator

from transformers import AutoTokenizer

from lib.access import check_hub

#: slot before_loaders
train_set = NewMasks(train_set, config)
collate = partial(mask_and_pad, config=config)

#: slot tokenizer when model=encoder
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

#: slot tokenizer when model=pretrained
MASK = "[MASK]"  # marks a masked token in your texts, for any tokenizer


class Tokenizer:
    """The tokenizer of the pretrained model."""

    def __init__(self, name: str) -> None:
        check_hub(name)
        try:
            self.tokenizer = AutoTokenizer.from_pretrained(name)
        except (OSError, ValueError) as error:
            raise SystemExit(f"The tokenizer of {name!r} can't be loaded: {error}") from error
        self.mask, self.size = self.tokenizer.mask_token_id, len(self.tokenizer)
        if self.mask is None:
            raise SystemExit(f"The tokenizer of {name!r} has no mask token: choose an encoder.")
        if not self.tokenizer.is_fast:
            raise SystemExit(
                f"The tokenizer of {name!r} is slow: it does not say to which word a "
                "token belongs: choose a model with a tokenizer.json."
            )

    def encode(self, texts: list[str], length: int) -> Iterator[tuple[list[int], list[int]]]:
        """Blocks of up to `length` tokens, and the index of each token's word; -1: none."""
        settings = {"truncation": True, "max_length": length, "return_overflowing_tokens": True}
        for text in texts:
            batch = self.tokenizer(text, **settings)
            for block, tokens in enumerate(batch["input_ids"]):
                words = [-1 if word is None else word for word in batch.word_ids(block)]
                if max(words) >= 0:  # skip empty texts
                    yield tokens, words

    def encode_masked(self, text: str) -> list[int]:
        """The tokens of a text with the mask in it."""
        return self.tokenizer(text.replace(MASK, self.tokenizer.mask_token))["input_ids"]

    def decode(self, tokens: list[int]) -> str:
        return self.tokenizer.decode(tokens, skip_special_tokens=True)

    def save_pretrained(self, folder) -> None:
        self.tokenizer.save_pretrained(folder)


@cache
def build_tokenizer(config) -> Tokenizer:
    return Tokenizer(config.pretrained_name)
