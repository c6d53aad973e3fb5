import random

#: slot write_question
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
