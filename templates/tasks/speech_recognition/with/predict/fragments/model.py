#: slot parameters
, letters: list[str] | None = None

#: replace letters
letters = letters or list_letters(config)  # with those of a run, it needs no data
