"""Small objects that the loop calls by name: no base class, no event system."""

#: slot classes
