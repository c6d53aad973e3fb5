"""Sets of answers made at random, as somebody types them on a page or in a link."""

import random
from collections.abc import Iterator
from itertools import islice

from scaffold.answers.catalog import Catalog, Option, as_typed
from scaffold.answers.resolve import Answers, resolve
from scaffold.web.form import settle
from scaffold.web.page import NAME

TEXTS = ("runs", "my data", "größe", "it's", 'a "b"', "$HOME/x", "back\\slash", "a&b=c#d", "100%")


def random_wishes(catalog: Catalog, number: int) -> list[tuple[dict[str, str], Answers]]:
    """Sets of answers that hold together: what was typed, and all answers. None is there twice."""
    found = {str(wishes): (wishes, answers) for wishes, answers in islice(_make(catalog), number)}
    assert len(found) == number
    return list(found.values())


def _make(catalog: Catalog) -> Iterator[tuple[dict[str, str], Answers]]:
    def complete(given: Answers) -> Answers:
        return resolve(catalog, {"project.name": NAME, **given})

    dice = random.Random(0)
    while True:
        task = dice.choice([*catalog.tasks])
        features = dice.sample([*catalog.features], dice.randrange(9))
        parts = [catalog.features[name] for name in features]
        texts = {"project.task": task} | {part.switch_key: as_typed(part.example) for part in parts}
        options = [
            option
            for option in catalog.settings.values()
            if option.key not in ("project.name", *texts)
            and option.task in ("", task)
            and option.feature in ("", *features)
        ]
        for option in dice.sample(options, dice.randrange(3, 15)):
            texts[option.key] = _typed(option, dice)
        wishes = settle(catalog, texts, complete)
        if len(wishes.kept) >= 4:
            yield {key: as_typed(value) for key, value in wishes.kept.items()}, wishes.answers


def _typed(option: Option, dice: random.Random) -> str:
    if option.choices:
        return dice.choice(option.choices).value
    if option.type == "bool":
        return dice.choice(["true", "false"])
    if option.type == "int":
        return str(max(1, int(option.default) * dice.randrange(1, 5) + dice.randrange(3)))
    if option.type == "float":
        return str(round(float(option.default) * dice.uniform(0.3, 2) + 1e-4, 5))
    return dice.choice(TEXTS)
