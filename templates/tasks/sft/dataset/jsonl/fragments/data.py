from torch.utils.data import random_split

#: slot read_conversations
def read_conversations(path: str) -> list[Conversation]:
    """The conversations of a file: a JSON object in each line."""
    found = [Conversation(read_messages(row, place), place) for place, row in read_objects(path)]
    if not found:
        raise SystemExit(f"{path} has no conversations.")
    return found

#: slot split
files = [config.val_path, config.test_path]
shares = [0.0 if path else 0.1 for path in files]
samples = Conversations(read_conversations(config.path), config)
if len(samples) < 10 and sum(shares):
    raise SystemExit(
        f"{config.path} has {len(samples)} conversations with an answer within --context "
        f"{config.context}: a split needs at least 10."
    )
# a fixed seed: another --seed must not move test samples into the training data
rng = torch.Generator().manual_seed(0)
parts = random_split(samples, [1 - sum(shares), *shares], generator=rng)
# a split with its own file gets no share of the rows
return [
    Conversations(read_conversations(path), config) if path else part
    for path, part in zip(["", *files], parts, strict=True)
]
