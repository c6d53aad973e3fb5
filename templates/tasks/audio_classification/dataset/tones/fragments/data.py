from math import pi
from random import Random

#: slot build_datasets
KINDS = ("beeps", "falling", "noise", "rising", "steady", "trill")


def build_datasets(config) -> list[Dataset]:
    """1,200 sounds, split into training, validation and test data."""
    rng, rate = Random(0), sample_rate(config)
    labels = [index % len(KINDS) for index in range(1200)]
    sounds = [make_sound(KINDS[label], rate, rng) for label in labels]
    # a fixed seed: another --seed must not move test sounds into the training data
    split = torch.Generator().manual_seed(0)
    return random_split(Sounds(sounds, labels, config), [0.8, 0.1, 0.1], generator=split)


def make_sound(kind: str, rate: int, rng: Random) -> Tensor:
    """A sound of up to a second on background noise, shape (samples,), from -1 to 1."""
    seconds, pitch = rng.uniform(0.4, 1.0), 300 * 2 ** rng.uniform(0, 2)
    time = torch.arange(int(seconds * rate)) / rate
    noise = torch.randn(len(time), generator=torch.Generator().manual_seed(rng.getrandbits(32)))
    sweep = rng.uniform(0.7, 1.5) * (time / seconds - 0.5)
    trill = 0.2 * (2 * pi * rng.uniform(6, 9) * time).sin()
    octaves = {"rising": sweep, "falling": -sweep, "trill": trill}.get(kind, 0 * time)
    tone = (2 * pi * (pitch * 2**octaves / rate).cumsum(dim=0)).sin()
    if kind == "noise":
        tone = noise / 3
    elif kind == "beeps":
        tone = tone * ((2 * pi * rng.uniform(4, 7) * time).sin() > 0)
    loudness, background = rng.uniform(0.1, 0.8), rng.uniform(0.001, 0.05)
    return (loudness * tone + background * noise).clamp(-1, 1)


def class_names(config) -> list[str]:
    """The names of the classes. A label is an index into this list."""
    return list(KINDS)
