#: slot parameters
, letters: list[str] | None = None

#: replace letters
letters = letters or list_letters(config)  # those of a run, so that no data is needed
