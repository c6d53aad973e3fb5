"""The data: batches of inputs and targets, tokens of shape (batch, length).

The target of each token is the one that follows. Documents are cut into blocks of `context` tokens,
the last of each is shorter: targets behind its end are IGNORED, and no loss is computed for them.
"""

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

from metrics import IGNORED
from model import build_tokenizer

#: slot read_documents


class Blocks(Dataset):
    """Blocks of documents: up to `context` tokens, and the one that follows them."""

    def __init__(self, documents: list[str], config) -> None:
        tokenizer = build_tokenizer(config)
        self.blocks: list[Tensor] = []
        for document in documents:
            # the end of the one before it announces a document
            tokens = [tokenizer.end, *tokenizer.encode(document), tokenizer.end]
            tokens = torch.tensor(tokens, dtype=torch.int32)
            starts = range(0, len(tokens) - 1, config.context)
            self.blocks += [tokens[start : start + config.context + 1] for start in starts]

    def __len__(self) -> int:
        return len(self.blocks)

    def __getitem__(self, index: int) -> Tensor:
        return self.blocks[index].long()


def collate(blocks: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Inputs and targets, as long as the longest block."""
    inputs = pad_sequence([block[:-1] for block in blocks], batch_first=True)
    targets = [block[1:] for block in blocks]
    return inputs, pad_sequence(targets, batch_first=True, padding_value=IGNORED)


def build_datasets(config) -> list[Dataset]:
    """Blocks of the training, validation and test documents."""
    return [Blocks(documents, config) for documents in read_documents(config)]


#: slot datasets


#: slot build_loaders
