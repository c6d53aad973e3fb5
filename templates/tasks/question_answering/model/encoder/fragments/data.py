from collections.abc import Iterator

#: slot tokenizer
def encode(questions: list[Question], config) -> Iterator[tuple[int, list[int], int, list]]:
    """For each window: the index of its question, tokens, the first text token, and their places.

    A question has at most a quarter of the tokens. A place is the first character of a token of
    the text, and the one after its last.
    """
    for index, row in enumerate(questions):
        asked = split_pieces(row.question)[: config.max_length // 4]
        head = [START, *number_pieces(row.question, asked), END]
        pieces, room = split_pieces(row.context), config.max_length - len(head)
        for begin in range(0, max(len(pieces) - config.overlap, 1), room - config.overlap):
            part = pieces[begin : begin + room]
            yield index, head + number_pieces(row.context, part), len(head), part
