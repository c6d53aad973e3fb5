from collections.abc import Iterator

from transformers import AutoTokenizer, PreTrainedTokenizerBase

#: slot tokenizer
@cache
def build_tokenizer(config) -> PreTrainedTokenizerBase:
    """The tokenizer of the pretrained model, which maps tokens to characters."""
    name = config.pretrained_name
    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise SystemExit(f"The tokenizer of {name!r} can't be loaded: {error}") from error
    if not tokenizer.is_fast:
        raise SystemExit(
            f"The tokenizer of {name!r} is slow: it does not say where a token is in its "
            "text: choose a model with a tokenizer.json."
        )
    return tokenizer


def encode(questions: list[Question], config) -> Iterator[tuple[int, list[int], int, list]]:
    """For each window: the index of its question, tokens, the first text token, and their places.

    A question has at most a quarter of the tokens. A place is the first character of a token of
    the text, and the one after its last.
    """
    tokenizer, size = build_tokenizer(config), 1000
    settings = {"max_length": config.max_length, "stride": config.overlap}
    settings |= {"truncation": "only_second", "return_overflowing_tokens": True}
    for begin in range(0, len(questions), size):
        rows = questions[begin : begin + size]
        asked = [shorten(row.question, config.max_length // 4, tokenizer) for row in rows]
        texts = [row.context for row in rows]
        batch = tokenizer(asked, texts, return_offsets_mapping=True, **settings)
        for window, index in enumerate(batch["overflow_to_sample_mapping"]):
            parts = batch.sequence_ids(window)
            first = parts.index(1) if 1 in parts else len(parts)
            offsets = batch["offset_mapping"][window][first : first + parts.count(1)]
            yield begin + index, batch["input_ids"][window], first, offsets
