from transformers import AutoTokenizer, PreTrainedTokenizerBase

#: slot tokenizer
@cache
def build_tokenizer(config) -> PreTrainedTokenizerBase:
    """The tokenizer of the pretrained model."""
    name = config.pretrained_name
    try:
        return AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise SystemExit(f"The tokenizer of {name!r} can't be loaded: {error}") from error


def encode(texts: Sequence[str], config) -> list[list[int]]:
    """The tokens of each text."""
    settings = {"truncation": True, "max_length": config.max_length}
    return build_tokenizer(config)(list(texts), **settings)["input_ids"]
