#: slot functions
OUTCOMES = ("right", "missed", "wrong")


def measure_classes(counts: Tensor, names: list[str]) -> dict[str, Metrics]:
    """Metrics of each class, from counts of right, missed and wrong ones, (classes, 3)."""
    found = {}
    for name, row in zip(names, counts.tolist(), strict=True):
        right, missed, wrong = row
        found[f"class {name}"] = {
            **dict(zip(OUTCOMES, row, strict=True)),
            "precision": right / max(right + wrong, 1),
            "recall": right / max(right + missed, 1),
            "f1": 2 * right / max(2 * right + missed + wrong, 1),
        }
    return found
