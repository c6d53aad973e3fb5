from math import isfinite

#: slot expected
assert isfinite(shown)
