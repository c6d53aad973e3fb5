#: file
"""The data: batches of inputs and targets, tokens of shape (batch, length).

The target of each token is the token after it. Documents are cut into blocks of `context` tokens.
The last block of a document is shorter: it is padded, and the targets there are IGNORED.
"""

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

from metrics import IGNORED
from model import build_tokenizer

#: slot load_splits


#: slot read_documents


#: slot row_readers


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


#: region build_datasets
def build_datasets(config) -> list[Dataset]:
    """Blocks of the training, validation and test documents."""
    return [Blocks(documents, config) for documents in read_documents(config)]


#: end build_datasets


#: slot datasets


#: slot build_loaders
#: end file

from dataclasses import replace

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
    text = block[1:].tolist()
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
    return [tokenizer.end, *marked]

#: slot after_datasets when fill_in_middle=psm|spm
train_set = MiddleLast(train_set, config)

#: replace build_datasets when fill_in_middle=psm|spm
def build_datasets(config) -> list[Dataset]:
    """Blocks of the training, validation and test documents.

    Those for training leave room for the four tokens around a middle.
    """
    if config.context < 8:
        raise SystemExit(f"--context {config.context} is too short to fill in a middle: use 8.")
    training, *others = read_documents(config)
    train_set = Blocks(training, replace(config, context=config.context - 4))
    return [train_set, *(Blocks(documents, config) for documents in others)]
