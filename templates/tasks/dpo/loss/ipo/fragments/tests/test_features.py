#: replace total
expected = sum(steps) / len(steps)
