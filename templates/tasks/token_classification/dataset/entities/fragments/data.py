import random

#: slot load_sentences
STARTS = "Bal Cor Dun Fen Gal Har Kel Lin Mar Nor Pel Quin Ros Sel Tor Ul Ver Wes Yar Zan"
ENDS = "by den dor fell gate ham ion lan mere mond nor ora port rick sen stead ton val wick"
CLAUSES = [
    "PER was born in LOC",
    "PER works for ORG",
    "PER , a painter from LOC , sued ORG",
    "ORG hired PER",
    "ORG opened an office near LOC",
    "ORG , the maker of clocks , bought ORG",
    "shares of ORG fell on Monday",
    "the mayor of LOC wrote to PER",
    "it rained in LOC all March",
    "the train from LOC to LOC was late",
    "LOC , which lies on a river , elected PER",
    "my uncle PER moved to LOC",
    "the lawyers of ORG called PER",
    "PER resigned as head of ORG",
    "the streets of LOC were empty",
    "nobody had heard of it before Easter",
]
LINKS = [",", ", and", ", but", "while", "because", "after"]


@cache
def load_sentences(config) -> list[list[Sentence]]:
    """5,000 sentences about people, organizations and places, in three splits.

    All types share the same names, so only the words around a name tell its type.
    """
    rng = random.Random(0)
    return split_rows([write_sentence(rng) for _ in range(5000)], [0.8, 0.1, 0.1])


def write_sentence(rng: random.Random) -> Sentence:
    """One or two clauses with made-up names of one or two words."""
    text = rng.choice(CLAUSES)
    if rng.random() < 0.5:
        text += f" {rng.choice(LINKS)} {rng.choice(CLAUSES)}"
    words, tags = [], []
    for word in f"{text} .".split():
        if word in ("PER", "ORG", "LOC"):
            names = [write_name(rng) for _ in range(rng.randint(1, 2))]
            words += names
            tags += [f"B-{word}", f"I-{word}"][: len(names)]
        else:
            words.append(word)
            tags.append("O")
    return [words[0].capitalize(), *words[1:]], tags


def write_name(rng: random.Random) -> str:
    return rng.choice(STARTS.split()) + rng.choice(ENDS.split())
