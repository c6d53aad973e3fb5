#: slot encode
def encode_chat(messages: Messages, config) -> tuple[list[int], list[bool]]:
    """The tokens of a conversation, and whether each is part of an answer.

    A message is the token of its role, its text and the token of its end. The end of an answer
    counts: the model learns where to stop. Raises ValueError for an unknown role.
    """
    tokenizer = build_tokenizer(config)
    tokens: list[int] = []
    counts: list[bool] = []
    for message in messages:
        role = message["role"]
        if role not in tokenizer.roles:
            raise ValueError(f"the role {role} is not one of {', '.join(tokenizer.roles)}.")
        text = [*tokenizer.encode(message["content"]), tokenizer.end]
        tokens += [tokenizer.roles[role], *text]
        counts += [False, *[role == "assistant"] * len(text)]
    return tokens, counts


def encode_prompt(messages: Messages, config) -> list[int]:
    """The tokens of a conversation up to where an answer begins."""
    return [*encode_chat(messages, config)[0], build_tokenizer(config).roles["assistant"]]


def find_ends(config) -> set[int]:
    """The tokens that end an answer."""
    return {build_tokenizer(config).end}
