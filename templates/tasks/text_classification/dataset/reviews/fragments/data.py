from functools import cache
from random import Random

#: slot texts
TOPICS = {
    "food": ["The breakfast", "The coffee in the morning", "Dinner on the terrace"],
    "location": ["The street", "The walk to the beach", "The view from the window"],
    "price": ["The bill", "What we paid", "The price for two nights"],
    "room": ["The bed", "The bathroom", "Our room on the second floor"],
    "staff": ["The man at the desk", "The owner", "Everybody who works there"],
}
OPINIONS = {
    1: ["made us happy", "was better than we had hoped", "was a pleasure"],
    -1: ["made us angry", "was worse than last year", "was a disappointment"],
}
OTHERS = ["We came by train.", "It rained on Sunday.", "My sister was with us.", "It was in May."]


def write_review(rng: Random) -> tuple[str, dict[str, int]]:
    """A hotel review, and its topics: 1 for a good one, -1 for a bad one."""
    topics = rng.sample(list(TOPICS), rng.randint(0, 3))
    opinions = {topic: rng.choice([1, -1]) for topic in topics}
    sentences = [rng.choice(OTHERS)]
    for topic, opinion in opinions.items():
        sentences.append(f"{rng.choice(TOPICS[topic])} {rng.choice(OPINIONS[opinion])}.")
    rng.shuffle(sentences)
    return " ".join(sentences), opinions


@cache
def load_texts(config) -> list[list[Row]]:
    """Made-up reviews of hotels, each with {{ task.reviewed }}, in three parts."""
    rng, found = Random(0), {}  # a dictionary drops duplicates
    while len(found) < 3000:
        text, opinions = write_review(rng)
        #: region found
        ...
        #: end found
    return split_rows(list(found.items()), [0.8, 0.1, 0.1])
