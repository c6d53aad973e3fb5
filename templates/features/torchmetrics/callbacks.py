import torch

from metrics import ClassMetrics

#: slot classes when place=callback
class ClassMetricsCallback:
    """Counts the batches of evaluate(), and adds the metrics before they are logged."""

    def __init__(self) -> None:
        self.sets: dict[str, ClassMetrics] = {}

    def before_evaluation(self, name: str) -> None:
        self.sets[name] = ClassMetrics()

    def after_batch(
        self, name: str, predictions: torch.Tensor, labels: torch.Tensor, classes: int
    ) -> None:
        self.sets[name].add(predictions, labels, classes)

    def after_evaluation(self, metrics: dict[str, float]) -> None:
        """Add the metrics of the sets evaluated since the last call."""
        for name, class_metrics in self.sets.items():
            metrics |= class_metrics.compute(name)
        self.sets.clear()
