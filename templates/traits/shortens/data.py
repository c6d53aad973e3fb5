#: slot shorten
def shorten(text: str, most: int, tokenizer: PreTrainedTokenizerBase) -> str:
    """The beginning of a text, with at most `most` tokens."""
    settings = {"add_special_tokens": False, "return_offsets_mapping": True, "verbose": False}
    places = tokenizer(text, **settings)["offset_mapping"]
    return text if len(places) <= most else text[: places[most - 1][1]]
