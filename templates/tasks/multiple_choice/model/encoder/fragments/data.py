from collections.abc import Iterator

#: slot tokenizer
def encode(pairs: list[tuple[str, str]], config) -> Iterator[tuple[list[int], int]]:
    """The tokens of each text and its choice, and the first one of the choice.

    If it is too long, the beginning of the text is cut. A choice has at most half of the tokens.
    """
    for context, choice in pairs:
        last = number_pieces(choice, split_pieces(choice))[: config.max_length // 2]
        room = config.max_length - len(last) - 2
        head = [START, *number_pieces(context, split_pieces(context))[-room:], END]
        yield head + last, len(head)
