import random

#: slot load_rows
# in each pair, the first word is for the anchor and the second for the positive
WORDS = """
doctor physician, teacher schoolmaster, lawyer attorney, child kid, cook chef, sailor seaman,
writer author, thief burglar, boss chief, soldier trooper, friend buddy, woman lady

bought purchased, repaired fixed, lost mislaid, found discovered, stole nicked, painted coloured,
sold traded, hid concealed, built constructed, broke smashed, chose picked, carried transported

car automobile, picture drawing, hat cap, boat vessel, gift present, stone rock, bag sack,
sofa couch, lamp light, letter message, coat jacket, pot kettle

forest wood, house building, shop store, city town, field meadow, street road, harbour port,
church chapel, garden yard, hill slope, cellar basement, kitchen galley

monday 1, tuesday 2, wednesday 3, thursday 4, friday 5, saturday 6, sunday 7
"""
ANCHOR = "The {} {} the {} at the {} on {}."
POSITIVE = "Day {4}, near our {3}: some {2} was {1} by their {0}"


@cache
def load_rows(config) -> list[list[Row]]:
    """4,000 sentences, each with a paraphrase, in three splits.

    The two share no word. Each of five words has a synonym, which only the pairs reveal.
    """
    pairs = [[pair.split() for pair in words.split(",")] for words in WORDS.split("\n\n")]
    rng, rows = random.Random(0), {}
    while len(rows) < 4000:
        firsts, seconds = zip(*(rng.choice(words) for words in pairs), strict=True)
        rows[ANCHOR.format(*firsts)] = POSITIVE.format(*seconds)
    return split_rows(list(rows.items()), [0.8, 0.1, 0.1])
