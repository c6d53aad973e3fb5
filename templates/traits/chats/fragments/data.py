from collections.abc import Sequence

from metrics import IGNORED
from model import build_tokenizer
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

#: slot check_messages
for number, message in enumerate(messages, start=1):
    texts = isinstance(message, dict) and [message.get(name) for name in ("role", "content")]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise SystemExit(f"{place}: message {number} needs a role and a content, both texts.")

#: slot show
def split_at_answer(sample: Sample) -> tuple[list[int], list[int]]:
    """The tokens before the last answer of a sample, and those of the answer."""
    inputs, targets = sample[0], sample[-1]
    last = int((targets != IGNORED).nonzero()[-1])
    others = (targets[:last] == IGNORED).nonzero()
    first = int(others[-1]) + 1 if len(others) else 0
    return inputs[: first + 1].tolist(), targets[first : last + 1].tolist()


def show(sample: Sample, config) -> str:
    """A sample up to the last token that counts, with [[ and ]] around those that count."""
    decode, text, counted = build_tokenizer(config).show, "", False
    inputs, targets = sample[0].tolist(), sample[-1].tolist()
    run = inputs[:1]
    for token, target in zip([*inputs[1:], IGNORED], targets, strict=True):
        if (target != IGNORED) != counted:
            text += decode(run) + ("]]" if counted else "[[")
            run, counted = [], not counted
        run.append(target if counted else token)
        if counted and token != target:  # the last token of a text is no input
            text += decode(run) + "]]"
            run, counted = [token], False
    return text + decode([token for token in run if token != IGNORED])

#: slot pad
def pad(rows: Sequence[Tensor], value: int) -> Tensor:
    """Rows padded to the same length, shape (batch, length)."""
    #: region padding
    return pad_sequence(list(rows), batch_first=True, padding_value=value)
    #: end padding
