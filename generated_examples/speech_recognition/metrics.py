"""The progress of a run, its training loss, its log, and the files of its metrics."""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from torch import Tensor
from tqdm import tqdm


@dataclass
class Progress:
    batches_per_epoch: int = 0  # on each process
    samples: tuple[int, ...] = ()  # in the training, validation and test data
    epoch: int = 0  # finished epochs
    batch: int = 0  # finished batches of the current epoch, on each process
    step: int = 0  # optimizer steps

    def state_dict(self) -> dict:
        return asdict(self)

    def load_state_dict(self, state: dict) -> None:
        old, new = state["batches_per_epoch"], self.batches_per_epoch
        if new != old:
            raise SystemExit(f"An epoch had {old} batches, and now has {new}: start a new run.")
        old, new = state.get("samples", self.samples), self.samples
        if new != old:  # the parts are drawn from all samples: test samples would be trained
            raise SystemExit(f"The data had {old} samples, and now have {new}: start a new run.")
        self.epoch, self.batch, self.step = state["epoch"], state["batch"], state["step"]


def count_steps(loader, config) -> tuple[int, int]:
    """Batches per epoch on each process, and steps of the run. Call it after prepare()."""
    batches = min(len(loader), config.limit_batches or len(loader))
    if not batches:
        raise SystemExit("Each process needs one full batch: use a smaller --batch-size.")
    steps = config.epochs * batches
    return batches, min(steps, config.max_steps or steps)


class RunningLoss:
    """The mean training loss per sample, over all processes."""

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.sums = torch.zeros(2, device=accelerator.device)  # losses and samples since read()
        self.epoch_sum, self.epoch_samples = 0.0, 0.0  # over all processes, up to the last read()

    def add(self, loss: Tensor, samples: int) -> None:
        """Add the mean loss of `samples` samples. It does not wait for the device."""
        self.sums[0] += loss.detach() * samples
        self.sums[1] += samples

    def read(self) -> float:
        """The mean since the last call. Call it on all processes."""
        total, samples = self.accelerator.reduce(self.sums, "sum").tolist()
        self.sums.zero_()
        self.epoch_sum += total
        self.epoch_samples += samples
        return total / max(samples, 1)

    def end_epoch(self) -> float:
        """The mean of the epoch. Call it on all processes."""
        self.read()
        mean = self.epoch_sum / max(self.epoch_samples, 1)
        self.epoch_sum, self.epoch_samples = 0.0, 0.0
        return mean

    def state_dict(self) -> dict:
        """The sums of each process. Call it on all processes."""
        sums = self.accelerator.gather(self.sums.unsqueeze(0)).cpu()  # of each process
        return {"sum": self.epoch_sum, "samples": self.epoch_samples, "sums": sums}

    def load_state_dict(self, state: dict) -> None:
        self.epoch_sum, self.epoch_samples = state["sum"], state["samples"]
        self.sums.copy_(state["sums"][self.accelerator.process_index])


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


class MetricsFile:
    """Writes a line of JSON for each logged step and each evaluation. NaN and infinity are null."""

    def __init__(self, path: Path) -> None:
        self.path, self.size = path, 0  # the first line replaces the file of an earlier run

    def append(self, step: int, metrics: dict[str, float]) -> None:
        if PartialState().is_main_process:
            with self.path.open("a" if self.size else "w") as file:
                values = {name: v if isfinite(v) else None for name, v in metrics.items()}
                file.write(json.dumps({"step": step, **values}) + "\n")
                self.size = file.tell()

    def state_dict(self) -> dict:
        return {"text": self.path.read_text()[: self.size] if self.size else ""}

    def load_state_dict(self, state: dict) -> None:
        if PartialState().is_main_process:
            self.size = self.path.write_text(state["text"])


def format_metrics(metrics: dict[str, float]) -> str:
    return " | ".join(f"{name} {value:.5g}" for name, value in metrics.items())


def progress_bar(batches: Iterable, done: int, total: int) -> tqdm:
    """The batches with a progress bar, in the terminal of the main process."""
    disable = None if PartialState().is_main_process else True  # None: off if there is no terminal
    return tqdm(batches, initial=done, total=total, leave=False, disable=disable)


def log(text: str) -> None:
    """Print a line on the main process, above the progress bar."""
    if PartialState().is_main_process:
        tqdm.write(text)
        sys.stdout.flush()
