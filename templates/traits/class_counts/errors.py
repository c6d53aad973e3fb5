#: replace draw
MOST = 40  # maximum number of classes in a picture


def find_worst(errors: Tensor) -> list[int]:
    """The classes with the most errors, as many as a picture shows, in their own order."""
    return sorted(errors.argsort(descending=True, stable=True)[:MOST].tolist())


def draw_counts(path: Path, counts: Tensor, rows: list[str], columns: list[str]) -> None:
    """A table of counts: a larger share of the row is darker."""
    size = (3 + 0.4 * len(columns), 3 + 0.4 * len(rows))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    shares = counts / counts.sum(dim=1, keepdim=True).clamp(min=1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=2)  # not too dark for numbers
    for row, column in counts.nonzero().tolist():
        axes.text(column, row, int(counts[row, column]), ha="center", va="center")
    axes.set_xticks(range(len(columns)), columns, rotation=90)
    axes.set_yticks(range(len(rows)), rows)
    #: slot axes
    save(figure, path)
