#: slot draw_functions
def write_classes(folder: Path, counts: Tensor, found: dict[str, dict]) -> None:
    """Write the metrics of each class as a table, and the counts as a picture."""
    names = [name.removeprefix("class ") for name in found]
    rows = {key: [row[key] for row in found.values()] for key in next(iter(found.values()), {})}
    write_table(folder / "classes.csv", {"class": names, **rows})
    worst = find_worst(counts[:, 1:].sum(dim=1))
    shown = [names[row] for row in worst]
    draw_counts(folder / "classes.png", counts[worst], shown, ["right", "missed", "wrong"])
