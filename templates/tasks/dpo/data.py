#: file
"""The data: batches of pairs of answers, one of which is preferred.

A sample is {{ task.sample_text }}
Inputs and targets are tokens of shape (batch, {{ task.rows }}, length). The target of each token is the token
after it, but only those of the last answer count. All others are IGNORED, and so is padding.
`reference` has the log-probabilities of {{ task.all }} answers before training, shape (batch, {{ task.rows }}). `beta` is
that of the run, shape (batch,): it comes with the data, because evaluate() gets no settings.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.utils.data import Dataset

from metrics import IGNORED
from accelerate import PartialState
from reference import Reference
from lib.conversations import Messages, leave_out_answers
from lib.pairs import Pair
from lib.samples import pad

Sample = tuple[Tensor, Tensor]  # inputs and targets of a conversation, each of shape (length,)


#: slot row_readers


#: slot pairs


#: slot encode


class Pairs(Dataset):
    """Pairs of answers, each of up to `context` inputs. Longer ones are cut at the end."""

    def __init__(self, pairs: list[Pair], config, reference: Reference) -> None:
        self.samples: list[tuple[{{ task.sample }}]] = []
        self.prompts: list[str] = []  # of each sample
        self.beta, cut = config.beta, 0
        for pair in pairs:
            try:
                chats = (pair.chosen, pair.rejected)
                whole = [encode_answer(chat, config, pair.settings) for chat in chats]
            except ValueError as error:
                raise SystemExit(f"{pair.place}: {error}") from error
            cut += sum(max(0, len(inputs) - config.context) for inputs, _ in whole)
            chosen, rejected = (tuple(part[: config.context] for part in one) for one in whole)
            answered = all((targets != IGNORED).any() for _, targets in (chosen, rejected))
            if answered and not torch.equal(chosen[1], rejected[1]):
                self.samples.append((chosen, rejected))
                self.prompts.append(str(pair.chosen[:-1]))
        left_out = len(pairs) - len(self.samples)
        if not self.samples:
            raise SystemExit(
                f"{pairs[0].place}, and {len(pairs) - 1} more: no pair has two different answers "
                f"within --context {config.context}."
            )
        if cut or left_out:
            PartialState().print(
                f"{len(pairs)} pairs: {cut} tokens beyond --context {config.context} are cut off. "
                f"{left_out} without two different answers within it are left out."
            )
        #: slot all_samples
        starts = range(0, len(self.samples), size := 4 * config.batch_size)
        batches = (pad_pairs(self.samples[start : start + size]) for start in starts)
        self.reference = reference.measure(batches)

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> tuple{{ task.item }}:
        return *self.samples[index], self.reference[index], self.beta


def encode_answer(messages: Messages, config, settings: dict) -> Sample:
    """A conversation in which only the last answer counts. Raises ValueError if it has none."""
    messages = [*leave_out_answers(messages[:-1]), messages[-1]]
    tokens, counts = map(torch.tensor, encode_chat(messages, config, settings))
    if not counts.any():
        raise ValueError("the chat template marks no answer.")
    return tokens[:-1], tokens.where(counts, IGNORED)[1:]


#: slot encode_answers


#: slot show


def collate(samples: list[tuple]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A batch of inputs, targets, log-probabilities of the reference, and beta."""
    *pairs, references, betas = zip(*samples, strict=True)
    pairs = list(zip(*pairs, strict=True))
    return *pad_pairs(pairs), torch.stack(references), torch.tensor(betas)


def pad_pairs(pairs: Sequence[tuple[{{ task.sample }}]]) -> tuple[Tensor, Tensor]:
    """Inputs and targets of pairs, each of shape (batch, {{ task.rows }}, length), padded to the longest."""
    inputs, targets = zip(*(sample for pair in pairs for sample in pair), strict=True)
    return tuple(
        pad(rows, value).unflatten(0, (-1, {{ task.rows }})) for rows, value in ((inputs, 0), (targets, IGNORED))
    )


#: slot load_splits


def build_datasets(config) -> list[Dataset]:
    """Pairs for training, validation and test."""
    reference = Reference(config)
    ...  #: slot split


#: slot datasets


#: slot build_loaders
#: end file

#: slot all_samples when loss=kto
# each with the answers of the pair before it
others = [self.samples[-1], *self.samples[:-1]]
self.samples = [
    (*pair, *(exchange_answer(pair[0], sample, config) for sample in other))
    for pair, other in zip(self.samples, others, strict=True)
]

#: slot encode_answers when loss=kto
def exchange_answer(sample: Sample, other: Sample, config) -> Sample:
    """A conversation with the last answer of another one, cut at the end."""
    inputs, targets = sample
    start = int((targets != IGNORED).nonzero()[0])
    answer = other[1][other[1] != IGNORED]
    inputs = torch.cat([inputs[: start + 1], answer[:-1]])
    targets = torch.cat([targets[:start], answer])
    return inputs[: config.context], targets[: config.context]
