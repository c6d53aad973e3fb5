import re
from collections.abc import Sequence
from functools import partial
from zlib import crc32

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from lib.access import check_hub
from lib.samples import pad
from accelerate import PartialState

#: slot tokenize
def tokenize(texts: Sequence[str], config) -> tuple[Tensor, Tensor]:
    """The tokens of texts and their mask, shape (texts, longest)."""
    tokens = [torch.tensor(row) for row in encode(texts, config)]
    mask = [torch.ones_like(row, dtype=torch.bool) for row in tokens]
    #: region padding
    return pad_sequence(tokens, batch_first=True), pad_sequence(mask, batch_first=True)
    #: end padding

#: slot after_datasets
collate_fn = partial(collate, config=config)

#: slot train_batches
collate_fn=collate_fn,

#: replace eval_loaders
val_loader = DataLoader(val_set, collate_fn=collate_fn, **settings)
test_loader = DataLoader(test_set, collate_fn=collate_fn, **settings)

#: slot before_loaders
if min(len(val_set), len(test_set)) < 2:
    PartialState().print("a split of one pair has perfect metrics: there is no other text to compare it with")

#: slot tokenizer when model=encoder
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

#: slot tokenizer when model=pretrained
@cache
def build_tokenizer(config) -> PreTrainedTokenizerBase:
    """The tokenizer of the pretrained model."""
    name = config.pretrained_name
    check_hub(name)
    try:
        return AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise SystemExit(f"The tokenizer of {name!r} can't be loaded: {error}") from error


def encode(texts: Sequence[str], config) -> list[list[int]]:
    """The tokens of each text."""
    settings = {"truncation": True, "max_length": config.max_length}
    return build_tokenizer(config)(list(texts), **settings)["input_ids"]

#: replace padding with tpu
return pad(tokens), pad(mask)
