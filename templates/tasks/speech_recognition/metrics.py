from collections.abc import Sequence

import torch
from torch import Tensor

#: slot classes
#: region read_letters
#: end read_letters


def count_edits(written: Sequence, text: Sequence) -> int:
    """The edit distance: the fewest insertions, deletions and substitutions between the two.

    Wagner and Fischer 1974, https://doi.org/10.1145/321796.321811
    """
    row = list(range(len(text) + 1))
    for place, one in enumerate(written, start=1):
        diagonal, row[0] = row[0], place
        for column, other in enumerate(text, start=1):
            edits = min(row[column] + 1, row[column - 1] + 1, diagonal + (one != other))
            diagonal, row[column] = row[column], edits
    return row[-1]


#: region count_errors
#: end count_errors


def error_rates(counts: Tensor) -> dict[str, float]:
    """WER and CER of the counts of a whole set, shape (4,): edits by words, and by letters."""
    word_edits, words, letter_edits, letters = counts.tolist()
    return {"wer": word_edits / max(words, 1), "cer": letter_edits / max(letters, 1)}

#: replace count_errors when model=whisper
def count_errors(written: list[str], texts: list[str]) -> Tensor:
    """For each sound: edits in words, words, edits in letters, and letters, shape (batch, 4)."""
    counts = []
    for heard, said in zip(written, texts, strict=True):
        words = said.split()
        edits = count_edits(heard.split(), words), count_edits(heard, said)
        counts.append([edits[0], len(words), edits[1], len(said)])
    return torch.tensor(counts)
