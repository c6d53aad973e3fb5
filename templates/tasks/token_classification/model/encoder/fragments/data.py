from zlib import crc32

#: slot tokenizer
PIECES, START = 4096, 0  # vocabulary size, and the token that starts each sentence


def encode(sentences: list[list[str]], config) -> list[tuple[list[int], list[int]]]:
    """The tokens of each sentence, and where each word starts among them.

    A token is a piece of up to four letters. Its id is its hash, so no vocabulary is needed;
    some pieces share an id.
    """
    encoded = []
    for words in sentences:
        tokens, starts = [START], []
        for word in words:
            starts.append(len(tokens))
            pieces = [word[first : first + 4] for first in range(0, max(len(word), 1), 4)]
            tokens += [1 + crc32(piece.encode()) % (PIECES - 1) for piece in pieces]
        starts = [start for start in starts if start < config.max_length]
        encoded.append((tokens[: config.max_length], starts))
    return encoded
