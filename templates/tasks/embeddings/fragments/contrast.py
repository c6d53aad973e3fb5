#: slot constants
ROUNDING = 1e-6  # the similarity of the same pair differs by less from batch to batch
