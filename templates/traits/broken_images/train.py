from data import UnreadableImage

#: wrap start
try:
    ...  #: body
except UnreadableImage as error:  # a data worker puts its traceback above
    raise SystemExit(str(error).rpartition("UnreadableImage: ")[2].strip()) from None
