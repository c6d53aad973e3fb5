"""The features of this project."""

#: slot tests
