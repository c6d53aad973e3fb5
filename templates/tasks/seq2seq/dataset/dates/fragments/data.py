import random
from datetime import date, timedelta
from torch.utils.data import random_split

#: slot load_pairs
def load_pairs(config) -> list[list[tuple[str, str]]]:
    """10,000 different dates, as people write them and as 1998-03-14, in three splits."""
    rng = random.Random(0)
    days = rng.sample(range(200 * 365), 10_000)
    dates = [date(1900, 1, 1) + timedelta(days=day) for day in days]
    pairs = [(write(day, rng), day.isoformat()) for day in dates]
    # a fixed seed: another --seed must not move test samples into the training data
    split = torch.Generator().manual_seed(0)
    return [list(part) for part in random_split(pairs, [0.8, 0.1, 0.1], generator=split)]


def write(day: date, rng: random.Random) -> str:
    """The date in one of seven forms: 3/14/1998 is American, 14.3.1998 European."""
    number = day.day
    ending = "th" if 10 < number < 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return rng.choice(
        [
            f"{number} {day:%B %Y}",
            f"{number}{ending} of {day:%B, %Y}",
            f"{day:%B} {number}, {day:%Y}",
            f"{day:%A}, {day:%B} {number}{ending}, {day:%Y}",
            f"{number}-{day:%b-%Y}",
            f"{number}.{day.month}.{day:%Y}",
            f"{day.month}/{number}/{day:%Y}",
        ]
    )
