#: file when loop=complete
"""The features of this project."""

#: slot tests
