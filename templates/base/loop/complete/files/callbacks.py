"""Objects that the loop calls by name. Each keeps its own state."""

#: slot classes
