import torch
from torch import Tensor

#: replace count_errors
def count_errors(written: list[str], texts: list[str]) -> Tensor:
    """For each sound: edits in words, words, edits in letters, and letters, shape (batch, 4)."""
    counts = []
    for heard, said in zip(written, texts, strict=True):
        words = said.split()
        edits = count_edits(heard.split(), words), count_edits(heard, said)
        counts.append([edits[0], len(words), edits[1], len(said)])
    return torch.tensor(counts)
