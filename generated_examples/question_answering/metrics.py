"""The progress of a run, its training loss, its log, and the files of its metrics."""

import json
import re
import string
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path

import torch
import torch.nn.functional as F
from accelerate import Accelerator, PartialState
from torch import Tensor
from tqdm import tqdm

from data import Window


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


def normalize(text: str) -> list[str]:
    """The words of a text as SQuAD compares them: in lower case, without punctuation and articles.

    Rajpurkar et al. 2016, https://arxiv.org/abs/1606.05250
    """
    text = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def score_answer(answer: str, references: list[str]) -> tuple[int, int, int]:
    """Whether an answer is exactly one of these, and its best F1, as a numerator and a denominator.

    Without references there is no answer, and "" is right: the official script of SQuAD 2.0.
    """
    found, best = normalize(answer), []
    for known in [words for words in map(normalize, references) if words] or [[]]:
        same = sum((Counter(found) & Counter(known)).values())
        f1 = (2 * same, len(found) + len(known)) if found and known else (int(found == known), 1)
        best.append((f1[0] / f1[1], int(found == known), *f1))
    return max(row[1] for row in best), *max(best)[2:]


def find_spans(logits: Tensor, windows: list[Window]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The best answer of each window: its score, its first and last token, and other scores.

    A score is the sum of the logits of both tokens, shape (batch,). The other scores are that of no
    answer, which the first token stands for, and the logsumexp over all answers. If there is no
    such answer, a score is -inf. Logits have the shape (batch, length, 2).
    """
    logits, device = logits.float(), logits.device
    places = torch.arange(logits.shape[1], device=device)
    ends = [(window.first, window.first + len(window.starts)) for window in windows]
    first, after = torch.tensor(ends, device=device).unsqueeze(2).unbind(dim=1)
    outside = (places < first) | (places >= after)  # in the question, or padding
    begin, end = logits.masked_fill(outside.unsqueeze(2), -torch.inf).unbind(dim=2)
    longest = min(windows[0].longest, len(places))
    end = F.pad(end, (0, longest - 1), value=-torch.inf).unfold(1, longest, 1)
    scores = (begin.unsqueeze(2) + end).flatten(1)  # of all first tokens, and lengths
    best, index = scores.max(dim=1)
    spans = torch.stack([index // longest, index // longest + index % longest], dim=1)
    optional = torch.tensor([window.optional for window in windows], device=device)
    none = logits[:, 0].sum(dim=1).masked_fill(~optional, -torch.inf)
    return best, spans, none, scores.logsumexp(dim=1)


def judge(logits: Tensor, windows: list[Window]) -> Tensor:
    """A row for each window with all that decide() needs, shape (batch, 9).

    The number of the question, the scores of the best answer and of none, and how right both are.
    """
    best, spans, none, _ = find_spans(logits, windows)
    rows = []
    for window, score, span in zip(windows, best.tolist(), spans.tolist(), strict=True):
        start, end = window.find(*span) if score > -torch.inf else (0, 0)
        references = [words for _, words in window.question.answers]
        answer = window.question.context[start:end]
        judged = [score_answer(text, references) for text in (answer, "")]
        rows.append([window.number, *judged[0], *judged[1]])
    rows = torch.tensor(rows, dtype=torch.float32, device=logits.device)
    return torch.cat([rows[:, :1], torch.stack([best, none], dim=1), rows[:, 1:]], dim=1)


def decide(rows: Tensor) -> Tensor:
    """Exact match and F1 of each question, shape (questions, 2), from the rows of all its windows.

    The best answer of all windows counts, unless no answer has a higher score in every window.
    """
    questions = {}
    for number, score, none, *judged in rows.tolist():
        best, least, *known = questions.get(number, (-torch.inf, torch.inf, *judged))
        known = judged if score > best else known
        questions[number] = [max(best, score), min(least, none), *known]
    scores = []
    for best, none, *judged in questions.values():
        exact, numerator, denominator = judged[3:] if none > best else judged[:3]
        scores.append([exact, numerator / denominator])
    return torch.tensor(scores, dtype=torch.float64)


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
