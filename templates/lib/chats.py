#: into data.py at encode
"""Made-up questions, and the answers in samples of conversations."""

import random
from collections.abc import Sequence

from lib.metrics import IGNORED
from torch import Tensor


def split_at_answer(sample: Sequence[Tensor]) -> tuple[list[int], list[int]]:
    """The tokens before the last answer of a sample, and those of the answer."""
    inputs, targets = sample[0], sample[-1]
    last = int((targets != IGNORED).nonzero()[-1])
    others = (targets[:last] == IGNORED).nonzero()
    first = int(others[-1]) + 1 if len(others) else 0
    return inputs[: first + 1].tolist(), targets[first : last + 1].tolist()


def write_question(rng: random.Random) -> tuple[str, str]:
    """A question and its answer, by one of three rules."""
    word = "".join(rng.choices("abcdefgh", k=3))
    digit, number = rng.randint(1, 3), rng.randint(100, 999)
    return rng.choice(
        [
            (f"reverse {word}", word[::-1]),
            (f"sort {word}", "".join(sorted(word))),
            (f"add {digit} to {number}", str(digit + number)),
        ]
    )
