"""The data: batches of inputs and targets, tokens of shape (batch, length).

A sample is a conversation. The target of each token is the token after it, but only those of the
assistant's answers count: the model learns to write these, not the questions. All others are
IGNORED, and so is the padding of conversations that are shorter than the longest of their batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

from metrics import IGNORED
from model import build_tokenizer
from progress import log

Messages = list[dict[str, str]]  # each with a `role`, such as user or assistant, and a `content`
Sample = tuple[Tensor, ...]  # model inputs and targets, each of shape (length,)


@dataclass(frozen=True)
class Conversation:
    messages: Messages
    place: str  # where it was found, for error messages


#: slot row_readers


#: slot read_conversations


#: slot write_question


def read_messages(row: dict, place: str) -> Messages:
    """The `messages` of a row, or its `prompt` and `completion`: texts, or lists of messages."""
    if "messages" in row:
        messages = row["messages"]
    elif {"prompt", "completion"} <= row.keys():
        messages = []
        for role, given in (("user", row["prompt"]), ("assistant", row["completion"])):
            messages += given if isinstance(given, list) else [{"role": role, "content": given}]
    else:
        raise SystemExit(
            f"{place} has {', '.join(row) or 'nothing'}: "
            "it needs messages, or prompt and completion."
        )
    if not isinstance(messages, list) or not messages:
        raise SystemExit(f"{place}: messages is not a list, or is empty.")
    #: slot check_messages
    return messages


#: slot encode


class Conversations(Dataset):
    """Conversations as samples of up to `context` inputs. Longer ones are cut at the end."""

    def __init__(self, conversations: list[Conversation], config) -> None:
        self.samples: list[Sample] = []
        cut = left_out = 0
        for conversation in conversations:
            try:
                tokens, counts = map(torch.tensor, encode_chat(conversation.messages, config))
            except ValueError as error:
                raise SystemExit(f"{conversation.place}: {error}") from error
            if not counts.any():
                raise SystemExit(f"{conversation.place} has no assistant message.")
            cut += max(0, len(tokens) - config.context - 1)
            targets = tokens.where(counts, IGNORED)[1 : config.context + 1]
            if (targets != IGNORED).any():
                inputs = tokens[: len(targets)]
                #: region sample
                self.samples.append((inputs, targets))
                #: end sample
            else:
                left_out += 1
        if not self.samples:
            raise SystemExit(f"No answer begins within --context {config.context}: make it larger.")
        if cut or left_out:
            log(
                f"{len(conversations)} conversations: {cut} tokens beyond --context "
                f"{config.context} are cut off. {left_out} without an answer are left out."
            )

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> Sample:
        return self.samples[index]


#: slot show


#: region collate
def collate(samples: list[Sample]) -> tuple[Tensor, Tensor]:
    """A batch of inputs and targets, padded to the longest sample."""
    inputs, targets = zip(*samples, strict=True)
    return pad(inputs, 0), pad(targets, IGNORED)


#: end collate


#: slot pad


#: slot load_splits


#: slot complete_splits


def build_datasets(config) -> list[Dataset]:
    """Conversations for training, validation and test."""
    ...  #: slot split


#: slot datasets


#: slot build_loaders
