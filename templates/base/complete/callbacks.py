#: file when loop=complete
"""Objects that the loop calls during training. Each keeps its own state."""

#: slot classes
