import random

#: slot write_question
def write_question(chance: random.Random) -> tuple[str, str]:
    """A question and its answer, by one of three rules."""
    word = "".join(chance.choices("abcdefgh", k=3))
    digit, number = chance.randint(1, 3), chance.randint(100, 999)
    return chance.choice(
        [
            (f"reverse {word}", word[::-1]),
            (f"sort {word}", "".join(sorted(word))),
            (f"add {digit} to {number}", str(digit + number)),
        ]
    )
