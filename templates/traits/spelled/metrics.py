import torch
from torch import Tensor

#: replace read_letters
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

#: replace count_errors
def count_errors(written: list[list[int]], targets: Tensor, sizes: Tensor) -> Tensor:
    """For each sound: edits in words, words, edits in letters, and letters, shape (batch, 4)."""
    counts = []
    texts = [row[:size] for row, size in zip(targets.tolist(), sizes.tolist(), strict=True)]
    for letters, text in zip(written, texts, strict=True):
        words, said = split_words(letters), split_words(text)
        counts.append([count_edits(words, said), len(said), count_edits(letters, text), len(text)])
    return torch.tensor(counts, device=targets.device)
