from torchmetrics import MetricCollection
from torchmetrics.classification import MulticlassAccuracy, MulticlassPrecision, MulticlassRecall

#: slot classes
class ClassMetrics:
    """Accuracy, macro precision and macro recall of an evaluation, by torchmetrics.

    Batches are gathered from all processes and cut to the samples of the set before they come
    here. So every process counts all of them, and torchmetrics must not add the processes up.
    """

    def __init__(self) -> None:
        self.metrics: MetricCollection | None = None  # the first batch says how many classes

    def add(
        self, predictions: torch.Tensor, labels: torch.Tensor, classes: int
    ) -> dict[str, torch.Tensor]:
        """Count a batch of class numbers, shape (batch,). Returns the values of this batch alone.

        Nothing waits for the device.
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
        """The values of all batches so far, named after the set: `val_precision`."""
        return {f"{name}_{key}": value.item() for key, value in self.metrics.compute().items()}
