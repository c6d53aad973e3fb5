#: replace draw
def draw_predictions(path: Path, targets: Tensor, predictions: Tensor) -> None:
    """Each sample as a point: its distance from the line is its error."""
    figure = Figure(figsize=(6, 6), layout="constrained")
    axes = figure.subplots()
    axes.scatter(targets, predictions, s=8, alpha=0.5)
    if targets.min() < targets.max():
        axes.axline((float(targets.min()),) * 2, slope=1, color="gray")
    axes.set(xlabel="target", ylabel="prediction")
    save(figure, path)
