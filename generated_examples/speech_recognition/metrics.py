"""The training loss, and how metrics are printed."""

from collections.abc import Sequence

import torch
from accelerate import Accelerator
from torch import Tensor


class RunningLoss:
    """The mean training loss per sample, over all processes.

    Losses are summed on the device, because reading a value waits for the device.
    """

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        # on this process, since the last read()
        self.sum, self.samples = torch.zeros((), device=accelerator.device), 0
        # over all processes, from the start of the epoch to the last read()
        self.epoch_sum, self.epoch_samples = 0.0, 0.0

    def add(self, loss: Tensor, samples: int) -> None:
        """Add the mean loss of `samples` samples."""
        self.sum.add_(loss.detach(), alpha=samples)
        self.samples += samples

    def window(self) -> Tensor:
        """Sum and samples on this process since the last read(), shape (1, 2)."""
        return torch.stack([self.sum, torch.full_like(self.sum, self.samples)])[None]

    def read(self) -> float:
        """The mean since the last call. All processes call it together."""
        total, samples = self.accelerator.reduce(self.window(), "sum")[0].tolist()
        self.sum.zero_()
        self.samples = 0
        self.epoch_sum += total
        self.epoch_samples += samples
        return total / max(samples, 1)

    def end_epoch(self) -> float:
        """The mean of the epoch. All processes call it together."""
        self.read()
        mean = self.epoch_sum / max(self.epoch_samples, 1)
        self.epoch_sum, self.epoch_samples = 0.0, 0.0
        return mean

    def state_dict(self) -> dict:
        """All processes call it together."""
        windows = self.accelerator.gather(self.window()).cpu()  # of each process
        return {"sum": self.epoch_sum, "samples": self.epoch_samples, "windows": windows}

    def load_state_dict(self, state: dict) -> None:
        self.epoch_sum, self.epoch_samples = state["sum"], state["samples"]
        window = state["windows"][self.accelerator.process_index]
        self.sum, self.samples = window[0].to(self.accelerator.device), int(window[1])


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


def count_errors(written: list[list[int]], targets: Tensor, sizes: Tensor) -> Tensor:
    """For each sound: edits in words, words, edits in letters, and letters, shape (batch, 4)."""
    counts = []
    texts = [row[:size] for row, size in zip(targets.tolist(), sizes.tolist(), strict=True)]
    for letters, text in zip(written, texts, strict=True):
        words, said = split_words(letters), split_words(text)
        counts.append([count_edits(words, said), len(said), count_edits(letters, text), len(text)])
    return torch.tensor(counts, device=targets.device)


def error_rates(counts: Tensor) -> dict[str, float]:
    """WER and CER of the counts of a whole set, shape (4,): edits by words, and by letters."""
    word_edits, words, letter_edits, letters = counts.tolist()
    return {"wer": word_edits / max(words, 1), "cer": letter_edits / max(letters, 1)}


def format_metrics(metrics: dict[str, float]) -> str:
    return " | ".join(f"{name} {value:.5g}" for name, value in metrics.items())
