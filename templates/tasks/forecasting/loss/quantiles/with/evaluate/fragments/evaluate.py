#: replace counts
COUNTS = ("error", "known", "scaled_error", "with_naive_error", "inside")
