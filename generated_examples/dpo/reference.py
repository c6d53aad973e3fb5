"""Log-probabilities of answers, from the trained model and from the reference."""

from collections.abc import Iterable

import torch
import torch.nn.functional as F
from accelerate import PartialState
from accelerate.utils import gather_object
from torch import Tensor, nn

from metrics import IGNORED
from model import build_model

ROUNDING = 1e-4  # the same rewards differ by less than this between batches


def answer_log_probs(model: nn.Module, inputs: Tensor, targets: Tensor) -> Tensor:
    """The log-probability of each answer of pairs after its prompt, shape (batch, 2).

    Both have shape (batch, 2, length). The tokens of prompts and of padding do not count.
    """
    logits = model(inputs.flatten(0, 1))  # all texts in one pass
    losses = F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="none"
    ).view_as(targets)
    return -losses.sum(dim=-1)


def find_gaps(log_probs: Tensor, reference: Tensor) -> Tensor:
    """How much more the model prefers the first answer than the reference does, shape (batch,).

    Times beta, this is the reward margin: the reward of an answer is beta times the increase of
    its log-probability (Rafailov and others 2023, section 4).
    """
    gains = log_probs - reference
    return gains[:, 0] - gains[:, 1]


class Reference:
    """The model before training: with LoRA, the one without its adapters.

    It is in evaluation mode, and is freed after it has scored the data, so training needs no
    second model in memory.
    """

    def __init__(self, config) -> None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)  # the same new weights as in training
            model = build_model(config)
        self.model = model.to(PartialState().device).eval()

    @torch.no_grad()
    def measure(self, batches: Iterable[tuple[Tensor, Tensor]]) -> Tensor:
        """The log-probability of each answer of all pairs, shape (pairs, 2).

        All processes call it together, and split the batches. The batches, and so the results, are
        the same for any number of processes.
        """
        state, found = PartialState(), {}
        for number, batch in enumerate(batches):
            if number % state.num_processes == state.process_index:
                inputs, targets = (part.to(state.device) for part in batch)
                found[number] = answer_log_probs(self.model, inputs, targets).cpu()
        parts = dict(item for share in gather_object([found]) for item in share.items())
        return torch.cat([parts[number] for number in sorted(parts)])
