from math import comb

#: slot functions
def mcnemar(right: Tensor, other_right: Tensor) -> Metrics:
    """Whether two runs are right equally often: McNemar 1947, https://doi.org/10.1007/BF02295996

    Only samples that exactly one run gets right count. If both runs are equally good, each run is
    equally likely to be the right one. p is two-sided and exact.
    """
    alone, other_alone = int((right & ~other_right).sum()), int((other_right & ~right).sum())
    both = alone + other_alone
    tail = sum(comb(both, count) for count in range(min(alone, other_alone) + 1))
    p = min(1.0, 2 * tail / 2**both)
    return {"right_alone": alone, "other_right_alone": other_alone, "p": p}
