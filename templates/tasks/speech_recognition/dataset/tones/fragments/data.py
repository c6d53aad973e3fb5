from math import pi
from random import Random

#: slot load_rows
LETTERS = "abcdefghijklmnop"


@cache
def load_rows(config) -> list[list[Row]]:
    """1,500 texts of one to three words, each with the seed of its sound, in three splits."""
    rng = Random(0)
    rows = []
    for seed in range(1500):
        sizes = [rng.randint(1, 5) for _ in range(rng.randint(1, 3))]
        words = ["".join(rng.choices(LETTERS, k=size)) for size in sizes]
        rows.append(Row(seed, " ".join(words)))
    return split_rows(rows, [0.8, 0.1, 0.1])

#: slot load_sound
def load_sound(row: Row, rate: int) -> Tensor:
    """A tone for each letter, and silence between words, on background noise: shape (samples,).

    A letter is three semitones above the one before it. Its length, loudness and pitch vary.
    """
    rng, parts = Random(row.sound), []
    for letter in row.text:
        time = torch.arange(int(rng.uniform(0.06, 0.12) * rate)) / rate
        if letter != " ":
            pitch = 350 * 2 ** (LETTERS.index(letter) / 4 + rng.uniform(-0.03, 0.03))
            swell = (pi * time / time[-1]).sin()  # an abrupt start would be a click
            parts.append(rng.uniform(0.2, 0.8) * swell * (2 * pi * pitch * time).sin())
        parts.append(torch.zeros_like(time) if letter == " " else time[: len(time) // 4] * 0)
    sound = torch.cat(parts)
    noise = torch.randn(len(sound), generator=torch.Generator().manual_seed(row.sound))
    return sound + rng.uniform(0.01, 0.1) * noise
