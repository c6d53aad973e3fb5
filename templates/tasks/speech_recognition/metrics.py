from collections.abc import Sequence

import torch
from torch import Tensor

#: replace read_letters when model=ctc|pretrained
BLANK, SPACE = 0, 1  # ids of the CTC blank, and of the space between words


def read_letters(log_probs: Tensor) -> list[list[int]]:
    """The letters of each sound, from log-probabilities of shape (batch, frames, letters).

    The most likely letter of each frame, without repeats and then without blanks: the best path of
    Graves and others 2006, https://doi.org/10.1145/1143844.1143891. One space separates words.
    """
    rows = []
    for frames in log_probs.argmax(dim=-1).cpu():
        best = frames.unique_consecutive()
        words = split_words(best[best != BLANK].tolist())
        rows.append([letter for word in words for letter in (SPACE, *word)][1:])
    return rows


def split_words(letters: list[int]) -> list[tuple[int, ...]]:
    words = [[]]
    for letter in letters:
        words.append([]) if letter == SPACE else words[-1].append(letter)
    return [tuple(word) for word in words if word]

#: replace count_errors when model=ctc|pretrained
def count_errors(written: list[list[int]], targets: Tensor, sizes: Tensor) -> Tensor:
    """For each sound: edits in words, words, edits in letters, and letters, shape (batch, 4)."""
    counts = []
    texts = [row[:size] for row, size in zip(targets.tolist(), sizes.tolist(), strict=True)]
    for letters, text in zip(written, texts, strict=True):
        words, said = split_words(letters), split_words(text)
        counts.append([count_edits(words, said), len(said), count_edits(letters, text), len(text)])
    return torch.tensor(counts, device=targets.device)

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
