import json
from torch.utils.data import random_split

#: slot read_conversations
def read_conversations(path: str) -> list[Conversation]:
    """The conversations of a file: a JSON object in each line."""
    conversations, number = [], 0
    try:
        with open(path, encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                place = f"{path}, line {number}"
                if line.strip():
                    row = json.loads(line)
                    conversations.append(Conversation(read_messages(row, place), place))
    except OSError as error:
        raise SystemExit(f"{path} can't be read: {error}") from error
    except ValueError as error:  # no UTF-8, or no JSON
        raise SystemExit(f"{path}, line {max(number, 1)} can't be read: {error}") from error
    return conversations

#: slot split
samples = Conversations(read_conversations(config.path), config)
if len(samples) < 10:
    raise SystemExit(
        f"{config.path} has {len(samples)} conversations with an answer within --context "
        f"{config.context}: a split needs at least 10."
    )
files = [config.val_path, config.test_path]
shares = [0.0 if path else 0.1 for path in files]
# a seed of its own: another --seed must not move test samples into the training data
split = torch.Generator().manual_seed(0)
parts = random_split(samples, [1 - sum(shares), *shares], generator=split)
# a part with a file of its own has no share of the rows
return [
    Conversations(read_conversations(path), config) if path else part
    for path, part in zip(["", *files], parts, strict=True)
]
