from torch.utils.data import DataLoader

from data import encode_chat, pad_chats
from lib.conversations import Conversation, read_extras, read_turns
from lib.json_lines import read_objects
from lib.notes import rename_keys
from lib.pairs import read_pair

#: slot inputs
def read_inputs(config: Config, names: list[str]) -> list[Conversation]:
    """The conversations of .jsonl files. A row has `messages`, or two answers as in training."""
    rows = [item for name in names for item in read_objects(name)]
    #: slot renamed
    return [chat for place, row in rows for chat in read_row(row, place)]


def read_row(row: dict, place: str) -> list[Conversation]:
    if "messages" in row:
        chats = [read_turns([row["messages"]], place)]
    else:
        pair = read_pair(row, place)
        chats = [pair.chosen, pair.rejected]
    return [Conversation(messages, place, read_extras(row, place)) for messages in chats]


def encode(chat: Conversation, config: Config) -> torch.Tensor:
    try:
        tokens = encode_chat(chat.messages, config, chat.settings)
    except ValueError as error:
        raise SystemExit(f"{chat.place}: {error}") from error
    if len(tokens) > config.context:
        raise SystemExit(
            f"{chat.place} has {len(tokens)} tokens, and --context was {config.context} in "
            "training: shorten it, or train with a larger --context."
        )
    return torch.tensor(tokens)

#: slot renamed when dataset=jsonl|huggingface
rows = rename_keys(rows, config.rename, required=False)

#: slot batches
for chats in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    tokens, mask = pad_chats([encode(chat, config) for chat in chats])
    rewards = model(tokens.to(device), mask.to(device)).cpu().double()
    for chat, reward in zip(chats, rewards.tolist(), strict=True):
        answer = chat.messages[-1]["content"]
        rows.append({"place": chat.place, "answer": answer, "reward": reward})

#: slot arguments
help = "a .jsonl file of conversations, with the key messages or the keys of the training data"
parser.add_argument("inputs", nargs="+", metavar="FILE", help=help)
