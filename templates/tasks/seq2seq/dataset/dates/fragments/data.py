import random
from datetime import date, timedelta

#: slot read_pairs
def read_pairs(config) -> list[tuple[str, str]]:
    """10,000 different dates, as people write them and as 1998-03-14."""
    chance = random.Random(0)
    days = chance.sample(range(200 * 365), 10_000)
    dates = [date(1900, 1, 1) + timedelta(days=day) for day in days]
    return [(write(day, chance), day.isoformat()) for day in dates]


def write(day: date, chance: random.Random) -> str:
    """The date in one of seven forms: 3/14/1998 is American, 14.3.1998 European."""
    number = day.day
    ending = "th" if 10 < number < 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return chance.choice(
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
