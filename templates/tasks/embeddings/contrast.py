#: slot constants
ROUNDING = 1e-6  # the similarity of a pair differs by less than this between batches
