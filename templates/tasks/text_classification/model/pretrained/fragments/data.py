from functools import cache

from transformers import AutoTokenizer

#: slot tokenizer
@cache
def build_tokenizer(config) -> PreTrainedTokenizerBase:
    """The tokenizer of the pretrained model."""
    try:
        return AutoTokenizer.from_pretrained(config.pretrained_name)
    except (OSError, ValueError) as error:
        name = config.pretrained_name
        raise SystemExit(f"The tokenizer of {name!r} can't be loaded: {error}") from error
