#: replace few
f"{len(rows)} sounds can't be split into training, validation and test: use 10 or more."
