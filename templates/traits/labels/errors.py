import torch

#: slot axes
axes.set(xlabel="prediction", ylabel="label")

#: slot errors
wrong = [row for row, name in enumerate(table["label"]) if name != table["prediction"][row]]
errors = {name: [values[row] for row in wrong] for name, values in table.items()}
write_table(folder / "errors.csv", errors)

#: slot draw_functions
def count_pairs(labels: Tensor, predictions: Tensor, classes: int) -> Tensor:
    """The confusion matrix: numbers of samples, shape (true class, predicted class)."""
    counts = torch.zeros(classes, classes, dtype=torch.long)
    return counts.index_put_((labels, predictions), torch.tensor(1), accumulate=True)


def write_confusion(folder: Path, counts: Tensor, names: list[str]) -> None:
    """The confusion matrix as a table and as a picture."""
    rows = {name: counts[:, column].tolist() for column, name in enumerate(names)}
    write_table(folder / "confusion.csv", {"label": names, **rows})
    worst = find_worst(counts.sum(dim=1) - counts.diagonal())
    shown = [names[row] for row in worst]
    draw_counts(folder / "confusion.png", counts[worst][:, worst], shown, shown)
