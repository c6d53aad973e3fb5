import random
from torch.utils.data import random_split

#: slot read_conversations
def write_conversations() -> list[Conversation]:
    """Made-up conversations of one or two questions. No question occurs twice."""
    rng = random.Random(0)
    questions = list(dict.fromkeys(write_question(rng) for _ in range(6_000)))
    conversations = []
    while len(questions) > 1:
        messages = []
        for _ in range(rng.choice([1, 2])):
            question, answer = questions.pop()
            messages += [{"role": "user", "content": question}]
            messages += [{"role": "assistant", "content": answer}]
        conversations.append(Conversation(messages, f"conversation {len(conversations) + 1}"))
    return conversations

#: slot split
# a fixed seed: another --seed must not move test samples into the training data
split = torch.Generator().manual_seed(0)
conversations = Conversations(write_conversations(), config)
return random_split(conversations, [0.8, 0.1, 0.1], generator=split)
