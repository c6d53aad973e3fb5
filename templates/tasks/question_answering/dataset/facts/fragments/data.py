import random

#: slot load_questions
STARTS = "Bal Cor Dun Fen Gal Har Kel Lin Mar Nor"
ENDS = "by den dor fell gate ham ion lan mond wick"
SECONDS = ["Bay", "Cross", "Hill", "Moor"]
FACTS = [  # a sentence, and questions about its second and its first name
    ("{} was born in {}.", "Where was {} born?", "Who was born in {}?"),
    ("{} lives near {}.", "Where does {} live?", "Who lives near {}?"),
    ("{} works for {}.", "Who does {} work for?", "Who works for {}?"),
    ("{} studied with {}.", "Who did {} study with?", "Who studied with {}?"),
    ("{} bought a house from {}.", "Who sold {} a house?", "Who bought a house from {}?"),
    ("{} wrote a book about {}.", "What did {} write about?", "Who wrote about {}?"),
    ("{} is the mayor of {}.", "Where is {} the mayor?", "Who is the mayor of {}?"),
]
OTHERS = ["It rained all week.", "Nobody was surprised.", "That was long ago."]


@cache
def load_questions(config) -> list[list[Question]]:
    """Two questions about each of 5,000 made-up paragraphs, in three parts.

    With --optional-answers, a fifth of the questions have no answer. All paragraphs use the same
    names, so only the right sentence tells the answer.
    """
    rng, missing = random.Random(0), 0.2 if config.optional_answers else 0.0
    rows = [row for _ in range(5000) for row in write_rows(rng, missing)]
    questions = [read_question(row, "made-up questions", config) for row in rows]
    return split_questions(questions, [0.8, 0.1, 0.1])


def write_rows(rng: random.Random, missing: float) -> list[dict]:
    """A paragraph with two facts about each of two people, and questions about two facts."""
    people = [write_name(rng) for _ in range(2)]
    told = [(one, fact) for one in people for fact in rng.sample(FACTS, 2)]
    rng.shuffle(told)
    names = [(one, write_name(rng)) for one, _ in told]
    sentences = [fact[0].format(*pair) for (_, fact), pair in zip(told, names, strict=True)]
    context = " ".join([*sentences[:2], rng.choice(OTHERS), *sentences[2:]])
    rows = []
    for _ in range(2):
        place, side = rng.randrange(len(told)), rng.choice([0, 1])
        (one, fact), pair = told[place], names[place]
        start = context.index(sentences[place])
        start += sentences[place].index(pair[side], len(pair[0]) if side else 0)
        answers = [{"text": pair[side], "answer_start": start}]
        if rng.random() < missing:  # a fact that the paragraph does not tell
            fact = rng.choice([other for other in FACTS if (one, other) not in told])
            side, answers = 1, []
        question = fact[2 - side].format(pair[1 - side])
        rows.append({"context": context, "question": question, "answers": answers})
    return rows


def write_name(rng: random.Random) -> str:
    """One or two words."""
    name = rng.choice(STARTS.split()) + rng.choice(ENDS.split())
    return f"{name} {rng.choice(SECONDS)}" if rng.random() < 0.3 else name
