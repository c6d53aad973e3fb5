from transformers import AutoTokenizer, PreTrainedTokenizerBase

#: slot tokenizer
@cache
def build_tokenizer(config) -> PreTrainedTokenizerBase:
    """The tokenizer of the pretrained model, which maps tokens to words."""
    name = config.pretrained_name
    try:
        # RoBERTa and GPT-2 tokenizers need this to accept words; others ignore it
        tokenizer = AutoTokenizer.from_pretrained(name, add_prefix_space=True)
    except (OSError, ValueError) as error:
        raise SystemExit(f"The tokenizer of {name!r} can't be loaded: {error}") from error
    if not tokenizer.is_fast:
        raise SystemExit(
            f"The tokenizer of {name!r} is slow: it does not say to which word a token "
            "belongs: choose a model with a tokenizer.json."
        )
    return tokenizer


def encode(sentences: list[list[str]], config) -> list[tuple[list[int], list[int]]]:
    """The tokens of each sentence, and where each word starts among them."""
    tokenizer = build_tokenizer(config)
    settings = {"is_split_into_words": True, "truncation": True, "max_length": config.max_length}
    batch, encoded = tokenizer(sentences, **settings), []
    for row, words in enumerate(sentences):
        tokens, starts = batch["input_ids"][row], find_starts(batch.word_ids(row))
        last = len(words) if len(tokens) < config.max_length else max(starts, default=-1) + 1
        if len(starts) < last:  # a word without tokens, such as a zero-width space
            unknown = tokenizer.unk_token or "?"
            words = [word if n in starts else unknown for n, word in enumerate(words[:last])]
            again = tokenizer(words, **settings)
            tokens, starts = again["input_ids"], find_starts(again.word_ids())
        encoded.append((tokens, list(starts.values())))
    return encoded


def find_starts(word_ids: list[int | None]) -> dict[int, int]:
    """The first token of each word."""
    starts = {}
    for place, word in enumerate(word_ids):
        if word is not None:
            starts.setdefault(word, place)
    return starts
