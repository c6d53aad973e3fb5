#: file when project.task=sft|dpo project.loop=complete
"""Answers to prompts, token by token."""

import torch
from torch import nn


@torch.no_grad()
def generate(
    model: nn.Module, prompts: list[list[int]], ends: set[int], context: int, length: int, device
) -> list[list[int]]:
    """Greedy decoding of an answer to each prompt.

    An answer ends before one of the tokens `ends`, after `length` tokens, or when prompt and answer
    have `context` tokens. It does not depend on the other prompts: padding comes after them, and no
    token sees a later one.
    """
    texts = [list(prompt) for prompt in prompts]
    rows = list(range(len(texts)))  # whose answers have not ended
    for _ in range(length):
        rows = [row for row in rows if len(texts[row]) < context]
        if not rows:
            break
        lasts = [len(texts[row]) - 1 for row in rows]
        ...  #: slot logits
        tokens = logits.argmax(dim=-1).tolist()
        for row, token in zip(rows, tokens, strict=True):
            texts[row].append(token)
        rows = [row for row in rows if texts[row][-1] not in ends]
    answers = [text[len(prompt) :] for text, prompt in zip(texts, prompts, strict=True)]
    return [answer[:-1] if answer and answer[-1] in ends else answer for answer in answers]
#: end file

import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

#: slot logits without tpu
inputs = pad_sequence([torch.tensor(texts[row]) for row in rows], batch_first=True)
logits = model(inputs.to(device))[range(len(rows)), lasts]

#: slot logits with tpu
# pad to a fixed shape, because XLA recompiles the model for each new one
shown = [torch.tensor(text[:context]) for text in texts]
inputs = torch.stack([F.pad(text, (0, context - len(text))) for text in shown])
logits = model(inputs.to(device)).cpu()[rows, lasts]
