import random
from torch.utils.data import random_split

#: slot read_pairs
def write_pairs() -> list[Pair]:
    """Made-up questions, each with its answer and a wrong one."""
    rng, pairs = random.Random(0), []
    for question, answer in dict(write_question(rng) for _ in range(4_000)).items():
        prompt = [{"role": "user", "content": question}]
        chosen, rejected = (
            [*prompt, {"role": "assistant", "content": text}]
            for text in (answer, make_mistake(answer, rng))
        )
        pairs.append(Pair(chosen, rejected, f"pair {len(pairs) + 1}"))
    return pairs


def make_mistake(answer: str, rng: random.Random) -> str:
    """The answer with one digit or letter changed."""
    place = rng.randrange(len(answer))
    others = "0123456789" if answer.isdigit() else "abcdefgh"
    wrong = rng.choice(others.replace(answer[place], ""))
    return answer[:place] + wrong + answer[place + 1 :]

#: slot split
# a fixed seed: another --seed must not move test samples into the training data
split = torch.Generator().manual_seed(0)
return random_split(Pairs(write_pairs(), config, reference), [0.8, 0.1, 0.1], generator=split)
