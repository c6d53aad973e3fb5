#: file
"""Log-probabilities of answers, from the trained model and from the reference."""

from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from metrics import IGNORED


ROUNDING = 1e-4  # the same rewards differ by less than this between batches


def answer_log_probs(model: nn.Module, inputs: Tensor, targets: Tensor) -> Tensor:
    """The log-probability of each answer of pairs after its prompt, shape (batch, {{ task.rows }}).

    Both have shape (batch, {{ task.rows }}, length). The tokens of prompts and of padding do not count.
    """
    logits = model(inputs.flatten(0, 1))  # all texts in one pass
    losses = F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="none"
    ).view_as(targets)
    #: region total
    return -losses.sum(dim=-1)
    #: end total


#: region gaps when loss=sigmoid|ipo|simpo|orpo
def find_gaps(log_probs: Tensor, reference: Tensor) -> Tensor:
    """How much more the model prefers the first answer than the reference does, shape (batch,).

    Times beta, this is the reward margin: the reward of an answer is beta times the increase of
    its log-probability (Rafailov and others 2023, section 4).
    """
    gains = log_probs - reference
    return gains[:, 0] - gains[:, 1]
#: end gaps


#: slot reference
#: end file

from accelerate import PartialState
from accelerate.utils import gather_object, patch_environment

from metrics import count_tokens
from model import build_model
from quantization import quantize

#: slot reference when loss=sigmoid|ipo|kto
class Reference:
    """The model before training: with LoRA, the one without its adapters.

    It is in evaluation mode, and is freed after it has scored the data, so training needs no
    second model in memory.
    """

    def __init__(self, config) -> None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)  # the same new weights as in training
            #: region build
            model = build_model(config)
            #: end build
        self.model = model.to(PartialState().device).eval()

    @torch.no_grad()
    def measure(self, batches: Iterable[tuple[Tensor, Tensor]]) -> Tensor:
        """The log-probability of each answer of all pairs, shape (pairs, {{ task.rows }}).

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

#: replace total when loss=ipo|simpo|orpo
return -losses.sum(dim=-1) / count_tokens(targets)  # per token: answers may have any length

#: slot reference when loss=simpo|orpo
class Reference:
    """There is none: this loss compares answers by the trained model alone."""

    def __init__(self, config) -> None:
        pass

    def measure(self, batches: Iterable[tuple[Tensor, Tensor]]) -> Tensor:
        """Zeros instead of log-probabilities, shape (pairs, 2)."""
        return torch.cat([torch.zeros(len(inputs), 2) for inputs, _ in batches])

#: replace gaps when loss=orpo
def find_gaps(log_probs: Tensor, reference: Tensor) -> Tensor:
    """How much higher the odds of the first answer are, as a logarithm, shape (batch,).

    The odds are p / (1 - p) of the mean probability of a token (Hong and others 2024, section 4.1).
    """
    log_probs = log_probs.clamp(max=-1e-6)  # the odds of a certain answer are infinite
    odds = log_probs - torch.log(-torch.expm1(log_probs))
    return odds[:, 0] - odds[:, 1]

#: replace build when loss=sigmoid|ipo|kto features.lora.quantization=nf4 with lora
model = build_model(config)
quantize(model, config)

#: wrap build when loss=sigmoid|ipo|kto fsdp.cpu_ram_efficient_loading=true with fsdp
# or transformers would load pretrained weights only on the main process
with patch_environment(FSDP_CPU_RAM_EFFICIENT_LOADING="false"):
    ...  #: body
