#: file
"""The data: batches of pairs of conversations, whose last answers are preferred and rejected.

Tokens and their mask have the shape (batch, 2, length), and the preferred answer comes first. The
mask is False for padding.
"""

import torch
from torch import Tensor
from torch.utils.data import Dataset

from accelerate import PartialState
from lib.pairs import Pair
from lib.samples import pad

#: slot row_readers


#: slot pairs


#: slot encode


class Pairs(Dataset):
    """The tokens of pairs of conversations, each of up to `context` tokens."""

    def __init__(self, pairs: list[Pair], config) -> None:
        self.samples: list[tuple[Tensor, Tensor]] = []
        self.prompts: list[str] = []  # of each sample
        equal: list[str] = []
        for pair in pairs:
            try:
                chats = (pair.chosen, pair.rejected)
                chosen, rejected = (encode_chat(chat, config, pair.settings) for chat in chats)
            except ValueError as error:
                raise SystemExit(f"{pair.place}: {error}") from error
            if chosen == rejected:
                equal.append(pair.place)
            elif max(len(chosen), len(rejected)) <= config.context:
                self.samples.append((torch.tensor(chosen), torch.tensor(rejected)))
                self.prompts.append(str(pair.chosen[:-1]))
        if not self.samples:
            raise SystemExit(
                f"{pairs[0].place}, and {len(pairs) - 1} more: no pair has two different answers "
                f"within --context {config.context}."
            )
        if long := len(pairs) - len(equal) - len(self.samples):
            PartialState().print(
                f"{len(pairs)} pairs: {long} longer than --context {config.context} are left out."
            )
        if equal:
            PartialState().print(
                f"{equal[0]}: chosen and rejected are equal. Such pairs are left out: {len(equal)}."
            )

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.samples[index]


def collate(samples: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """The tokens of pairs and their mask, shape (batch, 2, length)."""
    tokens, mask = pad_chats([chat for pair in samples for chat in pair])
    return tokens.unflatten(0, (-1, 2)), mask.unflatten(0, (-1, 2))


def pad_chats(chats: list[Tensor]) -> tuple[Tensor, Tensor]:
    """The tokens of conversations and their mask, shape (batch, length)."""
    return pad(chats), pad([torch.ones_like(chat, dtype=torch.bool) for chat in chats])


#: slot load_splits


def build_datasets(config) -> list[Dataset]:
    """Pairs for training, validation and test."""
    ...  #: slot split


#: slot datasets


#: slot build_loaders
#: end file

from lib.conversations import Messages, check_keys
from model import build_tokenizer

#: slot encode when model=gpt
def encode_chat(messages: Messages, config, settings: dict) -> list[int]:
    """The tokens of a conversation. Raises ValueError for an unknown role, and for tools.

    A message is the token of its role, its text and the token of its end.
    """
    check_keys(messages, settings, template="")
    tokenizer, tokens = build_tokenizer(config), list[int]()
    for message in messages:
        role = message["role"]
        if role not in tokenizer.roles:
            raise ValueError(f"the role {role} is not one of {', '.join(tokenizer.roles)}.")
        tokens += [tokenizer.roles[role], *tokenizer.encode(message["content"]), tokenizer.end]
    return tokens

#: slot encode when model=pretrained
def encode_chat(messages: Messages, config, settings: dict) -> list[int]:
    """The tokens of a conversation, whose text the chat template writes.

    `settings` are for the template, such as `tools`. Raises ValueError for messages that it can't
    write.
    """
    tokenizer = load_tokenizer(config)
    _, text = spell(messages, tokenizer, settings)
    return tokenizer(text, add_special_tokens=False)["input_ids"]
