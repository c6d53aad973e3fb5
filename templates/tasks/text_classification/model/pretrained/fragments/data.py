from functools import cache

from transformers import AutoTokenizer

#: slot tokenizer
@cache
def build_tokenizer(config) -> PreTrainedTokenizerBase:
    """The tokenizer of the pretrained model."""
    name = config.pretrained_name
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, padding_side="right")
    except (OSError, ValueError) as error:
        raise SystemExit(f"The tokenizer of {name!r} can't be loaded: {error}") from error
    if tokenizer.pad_token is None:  # as in GPT-2; the mask hides it
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
        if tokenizer.pad_token is None:
            raise SystemExit(f"The tokenizer of {name!r} has no token for padding.")
    return tokenizer
