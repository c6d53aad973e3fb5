import random

#: slot load_questions
NAMES = "Ann Ben Cleo Dan Eva Finn Gus Ida Jon Kim Lea Max Nina Otto Pia Rob Sue Tom Uma Vic"
USES = {
    "axe": "splits the logs",
    "broom": "sweeps the floor",
    "brush": "paints the fence",
    "camera": "takes a picture",
    "drill": "makes a hole in the wall",
    "hammer": "drives in a nail",
    "iron": "smooths a shirt",
    "kettle": "boils some water",
    "key": "opens the door",
    "knife": "cuts the bread",
    "ladder": "climbs onto the roof",
    "lamp": "lights up the cellar",
    "mop": "wipes up the puddle",
    "needle": "sews on a button",
    "oven": "bakes a cake",
    "pen": "signs the letter",
    "piano": "plays a waltz",
    "rope": "ties up the boat",
    "scale": "weighs the flour",
    "shovel": "digs a ditch",
    "towel": "dries the plates",
}
CONTEXTS = [
    "{name} picks up the {thing} and leaves the {other}.",
    "{name} leaves the {other} and picks up the {thing}.",
    "{name} asks for the {thing}, as the {other} is broken.",
    "The {other} is broken, so {name} asks for the {thing}.",
]


@cache
def load_questions(config) -> list[list[Question]]:
    """5,000 sentences about somebody who takes a thing, and two to four possible continuations.

    The use of another thing in the sentence is always among them.
    """
    rng = random.Random(0)
    return split_rows([write_question(rng) for _ in range(5000)], [0.8, 0.1, 0.1])


def write_question(rng: random.Random) -> Question:
    things = rng.sample(list(USES), rng.randint(2, 4))
    name, (thing, other, *_) = rng.choice(NAMES.split()), things
    context = rng.choice(CONTEXTS).format(name=name, thing=thing, other=other)
    rng.shuffle(things)
    choices = tuple(f"{name} {USES[one]}." for one in things)
    return Question(context, choices, things.index(thing))
