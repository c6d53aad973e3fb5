#: replace few
f"{len(rows)} images can't be split into training, validation and test: "
"use 10 or more."
