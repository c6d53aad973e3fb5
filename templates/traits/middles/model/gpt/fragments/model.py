#: replace tokens
"""Each byte of UTF-8 is a token. One more ends a document, and three mark the middle."""

size, end = 260, 256
prefix, suffix, middle = 257, 258, 259
