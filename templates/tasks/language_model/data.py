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

#: replace order_of_parts when fill_in_middle=spm
# suffix, prefix, middle (SPM), so that the middle follows its prefix: Bavarian et al. 2022,
# https://arxiv.org/abs/2207.14255, with the tokens as in its appendix
marked = [tokenizer.prefix, tokenizer.suffix, *suffix, tokenizer.middle, *prefix]
