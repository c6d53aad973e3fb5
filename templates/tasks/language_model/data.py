#: file
"""The data: batches of inputs and targets, tokens of shape (batch, length).

The target of each token is the token after it. Documents are cut into blocks of `context` tokens.
The last block of a document is shorter: it is padded, and the targets there are IGNORED.
"""

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

from documents import Documents
from metrics import IGNORED
from model import build_tokenizer

#: slot load_splits


#: slot read_documents


#: slot row_readers


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


#: slot load_documents


#: region build_datasets
def build_datasets(config) -> list[Dataset]:
    """Blocks of the training, validation and test documents."""
    return [Blocks(documents, config) for documents in load_documents(config)]


#: end build_datasets


#: slot datasets


#: slot build_loaders
#: end file

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from datasets.config import HF_DATASETS_CACHE

from documents import (
    choose_folder,
    count_needed,
    digest,
    encode_documents,
    hash_files,
    map_documents,
    take,
)
from lib.json_lines import holds_objects
from accelerate import PartialState

#: slot load_documents when dataset=stdlib
def load_documents(config) -> list[Documents]:
    """The tokens of the training, validation and test documents."""
    tokenizer = build_tokenizer(config)
    return [encode_documents(texts, tokenizer) for texts in read_documents(config)]

#: slot load_documents when dataset=huggingface
def load_documents(config) -> list[Documents]:
    """The tokens of the training, validation and test documents, in files of the cache."""
    tokenizer, parts = build_tokenizer(config), []
    for split in load_columns(config):
        name = f"{digest(tokenizer.name, split.split)}-{split._fingerprint}.tokens"
        pieces = enumerate(row[config.text_column] or "" for row in split)
        path = choose_folder(Path(HF_DATASETS_CACHE, "tokens")) / name
        parts.append(map_documents(pieces, split.size_in_bytes or 0, path, tokenizer))
        if not len(parts[-1].spans):
            raise SystemExit(
                f"{config.text_column} of a split of {config.dataset_name} has no texts."
            )
    return parts

#: slot load_documents when dataset=text
def load_documents(config) -> list[Documents]:
    """The tokens of training, validation and test documents: those of a folder, or parts of one."""
    documents = map_texts(config.path, config)
    spans = documents.spans
    if len(spans) < 3:  # each text is cut: 90 % for training, 5 % for validation, 5 % for the test
        lengths = spans[:, 1] - spans[:, 0]
        cuts = [spans[:, 0] + (share * lengths).astype(int) for share in (0, 0.9, 0.95, 1)]
        parts = [np.stack(pair, axis=1) for pair in pairwise(cuts)]
    else:
        numbers = list(range(len(spans)))
        # a fixed seed: another --seed must not move test documents into the training data
        random.Random(0).shuffle(numbers)
        tenth = max(1, len(numbers) // 10)
        cuts = [numbers[2 * tenth :], numbers[:tenth], numbers[tenth : 2 * tenth]]
        parts = [spans[part] for part in cuts]
    others = [None, config.val_path, config.test_path]
    for number, path in enumerate(others):
        if path:  # all of config.path is for training
            parts[0] = np.concatenate([parts[0], parts[number]])
    found = [documents.select(part) for part in parts]
    for number, path in enumerate(others):
        if path:
            found[number] = map_texts(path, config)
    for name, part in zip(("training", "validation", "test"), found, strict=True):
        if not (part.spans[:, 1] - part.spans[:, 0]).any():
            raise SystemExit(f"The {name} data have no text: {config.path} is too short to be cut.")
    return found


def map_texts(path: str, config) -> Documents:
    """The tokens of the texts of a file or a folder, in a file beside it."""
    tokenizer, most = build_tokenizer(config), count_needed(config)
    files = [Path(path)] if holds_objects(path) else list_files(path)
    try:
        size = sum(file.stat().st_size for file in files)
        most = most if size > most else 0
        content = hash_files(files, most)
    except OSError as error:
        raise SystemExit(f"{path} can't be read: {error}") from error
    if most:
        PartialState().print(
            f"{path}: this trial reads the first {most:,} characters. Longer runs read all."
        )
    whole = Path(path).resolve()
    folder = choose_folder(whole.with_name(f"{whole.name}.tokens"))
    name = f"{digest(tokenizer.name, config.text_column, most)}-{content}.tokens"
    pieces = take(read_pieces(path, config), most)
    documents = map_documents(pieces, most or size, folder / name, tokenizer)
    if not len(documents.spans):
        raise SystemExit(f"{path} has no texts.")
    return documents

#: slot datasets when fill_in_middle=psm|spm
class MiddleLast(Dataset):
    """Training blocks, a fraction `middle_rate` of which is rearranged: the middle comes last.

    Which ones, and where they are cut, depends only on the seed, the epoch and the index of the
    block, so it is the same in a resumed run, with any number of data workers, and on any number
    of processes.
    """

    def __init__(self, blocks: Dataset, config) -> None:
        self.blocks, self.config, self.epoch = blocks, config, 0
        self.tokenizer = build_tokenizer(config)

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.blocks)

    def __getitem__(self, index: int) -> Tensor:
        block, seed = self.blocks[index], hash((self.config.seed, self.epoch, index))
        generator = torch.Generator().manual_seed(seed)
        if torch.rand((), generator=generator) >= self.config.middle_rate:
            return block
        return put_middle_last(block, self.tokenizer, generator)


def put_middle_last(block: Tensor, tokenizer, generator: torch.Generator) -> Tensor:
    """A block that is cut at two random places, with the middle moved to the end.

    The token that ends a document comes after the middle, whether the block ended one or not:
    a model has to know where a middle ends.
    """
    text = block[len(tokenizer.start) :].tolist()
    if text[-1] == tokenizer.end:
        text = text[:-1]
    cuts = torch.randint(len(text) + 1, (2,), generator=generator).tolist()
    start, end = min(cuts), max(cuts)
    around = surround(text[:start], text[end:], tokenizer)
    return block.new_tensor([*around, *text[start:end], tokenizer.end])


def surround(prefix: list[int], suffix: list[int], tokenizer) -> list[int]:
    """What comes before a middle: its prefix and suffix, and the tokens that mark the parts."""
    #: region order_of_parts when fill_in_middle=psm
    # prefix, suffix, middle (PSM): Bavarian et al. 2022, https://arxiv.org/abs/2207.14255
    marked = [tokenizer.prefix, *prefix, tokenizer.suffix, *suffix, tokenizer.middle]
    #: end order_of_parts
    #: region middle_after_prefix when fill_in_middle=spm
    # suffix, prefix, middle (SPM), so that the middle follows its prefix: Bavarian et al. 2022,
    # https://arxiv.org/abs/2207.14255, with the tokens as in its appendix
    marked = [tokenizer.prefix, tokenizer.suffix, *suffix, tokenizer.middle, *prefix]
    #: end middle_after_prefix
    return [*tokenizer.start, *marked]

#: slot after_datasets when fill_in_middle=psm|spm
train_set = MiddleLast(train_set, config)

#: replace build_datasets when fill_in_middle=psm|spm
def build_datasets(config) -> list[Dataset]:
    """Blocks of the training, validation and test documents.

    Those for training leave room for the four tokens around a middle.
    """
    if config.context < 8:
        raise SystemExit(f"--context {config.context} is too short to fill in a middle: use 8.")
    training, *others = load_documents(config)
    train_set = Blocks(training, replace(config, context=config.context - 4))
    return [train_set, *(Blocks(documents, config) for documents in others)]
