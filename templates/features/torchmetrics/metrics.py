from torchmetrics import MetricCollection
from torchmetrics.classification import MulticlassAccuracy, MulticlassPrecision, MulticlassRecall

#: slot classes
class ClassMetrics:
    """Accuracy, macro precision and macro recall of an evaluation, by torchmetrics.

    add() gets batches that are gathered from all processes and have no padding. Each process
    counts all samples, so torchmetrics must not sum over processes (sync_on_compute=False).
    """

    def __init__(self) -> None:
        self.metrics: MetricCollection | None = None  # the first batch creates it

    def add(
        self, predictions: torch.Tensor, labels: torch.Tensor, classes: int
    ) -> dict[str, torch.Tensor]:
        """Count a batch of classes, shape (batch,). Returns the values of this batch only.

        It does not wait for the device.
        """
        if self.metrics is None:
            settings = {"num_classes": classes, "validate_args": False, "sync_on_compute": False}
            metrics = {
                "accuracy": MulticlassAccuracy(average="micro", **settings),
                "precision": MulticlassPrecision(average="macro", **settings),
                "recall": MulticlassRecall(average="macro", **settings),
            }
            self.metrics = MetricCollection(metrics).to(labels.device)
        return self.metrics(predictions, labels)

    def compute(self, name: str) -> dict[str, float]:
        """The values over all batches so far, named after the set: `val_precision`."""
        return {f"{name}_{key}": value.item() for key, value in self.metrics.compute().items()}
