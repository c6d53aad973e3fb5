import random
from torch.utils.data import random_split

#: slot read_conversations
def write_conversations() -> list[Conversation]:
    """Made-up conversations of one or two questions, each of which is asked once."""
    chance = random.Random(0)
    questions = list(dict.fromkeys(write_question(chance) for _ in range(6_000)))
    conversations = []
    while len(questions) > 1:
        messages = []
        for _ in range(chance.choice([1, 2])):
            question, answer = questions.pop()
            messages += [{"role": "user", "content": question}]
            messages += [{"role": "assistant", "content": answer}]
        conversations.append(Conversation(messages, f"conversation {len(conversations) + 1}"))
    return conversations


def write_question(chance: random.Random) -> tuple[str, str]:
    """A question and its answer, by one of three rules."""
    word = "".join(chance.choices("abcdefgh", k=3))
    digit, number = chance.randint(1, 3), chance.randint(100, 999)
    return chance.choice(
        [
            (f"reverse {word}", word[::-1]),
            (f"sort {word}", "".join(sorted(word))),
            (f"add {digit} to {number}", str(digit + number)),
        ]
    )

#: slot split
# a seed of its own: another --seed must not move test samples into the training data
split = torch.Generator().manual_seed(0)
conversations = Conversations(write_conversations(), config)
return random_split(conversations, [0.8, 0.1, 0.1], generator=split)
