import unicodedata

#: slot row
seconds: float

#: slot check_row
def check_text(text: str, seconds: float, place: str, config) -> str:
    """The text of a sound, with one space between words. `place` is for error messages."""
    text = unicodedata.normalize("NFC", text)  # a letter and its accent are one character
    #: slot changed
    text = "".join(letter for letter in text if letter not in config.ignored)
    if not (text := " ".join(text.split())):
        raise SystemExit(f"{place}: its text is empty without the characters in --ignored.")
    #: slot long_text
    return text

#: slot left_out
parts = [[row for row in parts[0] if row.seconds <= config.seconds], *parts[1:]]
if not parts[0]:
    raise SystemExit("All sounds of the training data are longer than --seconds: raise it.")
