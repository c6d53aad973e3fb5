"""What is measured while training."""

import torch
from accelerate import Accelerator
from accelerate.utils import gather_object
from torchmetrics import MetricCollection
from torchmetrics.classification import MulticlassAccuracy, MulticlassPrecision, MulticlassRecall


class RunningLoss:
    """The mean training loss of a sample, over all processes.

    Losses are summed on the device and read only now and then, because reading waits for it.
    """

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.unread, self.unread_samples = torch.zeros((), device=accelerator.device), 0
        self.epoch, self.epoch_samples = 0.0, 0.0  # what was read since the epoch began

    def add(self, loss: torch.Tensor, samples: int) -> None:
        """Count the mean loss of so many samples."""
        self.unread.add_(loss.detach(), alpha=samples)
        self.unread_samples += samples

    def read(self) -> float:
        """The mean since the last time. All processes call it together."""
        samples = torch.full_like(self.unread, self.unread_samples)
        total = self.accelerator.reduce(torch.stack([self.unread, samples]), "sum").tolist()
        self.unread.zero_()
        self.unread_samples = 0
        self.epoch += total[0]
        self.epoch_samples += total[1]
        return total[0] / max(total[1], 1)

    def end_epoch(self) -> float:
        """The mean of the epoch. All processes call it together."""
        self.read()
        mean = self.epoch / max(self.epoch_samples, 1)
        self.epoch, self.epoch_samples = 0.0, 0.0
        return mean

    def state_dict(self) -> dict:
        """The sums, those of each process apart. All processes call it together."""
        return {
            "unread": self.accelerator.gather(self.unread).reshape(-1).tolist(),
            "unread_samples": self.unread_samples,
            "epoch": self.epoch,
            "epoch_samples": self.epoch_samples,
        }

    def load_state_dict(self, state: dict) -> None:
        vars(self).update(state)
        unread = state["unread"][self.accelerator.process_index]
        self.unread = torch.tensor(unread, device=self.accelerator.device)


class HardBatches:
    """The share of training batches whose loss is above a limit: a pattern for your own metrics.

    Each process counts its own batches, on the device: the hard ones, and all of them. Processes
    are added up only when a value is asked for.
    """

    def __init__(self, accelerator: Accelerator, limit: float) -> None:
        self.accelerator, self.limit = accelerator, limit
        self.step = torch.zeros(2, dtype=torch.long, device=accelerator.device)
        self.epoch = torch.zeros_like(self.step)

    def add(self, loss: torch.Tensor) -> None:
        """Count a batch by its mean loss. Nothing waits for the device."""
        hard = loss.detach() > self.limit
        self.step = torch.stack([hard, torch.ones_like(hard)]).long()
        self.epoch += self.step

    def share(self, counts: torch.Tensor) -> float:
        """The share over all processes, which call it together."""
        hard, batches = self.accelerator.reduce(counts, "sum").tolist()
        return hard / max(batches, 1)

    def read_step(self) -> float:
        """The share in the last batch of each process. All of them call it together."""
        return self.share(self.step)

    def end_epoch(self) -> float:
        """The share in the epoch. All processes call it together."""
        share = self.share(self.epoch)
        self.epoch.zero_()
        return share

    def state_dict(self) -> dict:
        """The counts of the epoch, those of each process apart. All call it together."""
        return {"epoch": self.accelerator.gather(self.epoch).reshape(-1, 2).tolist()}

    def load_state_dict(self, state: dict) -> None:
        self.epoch = torch.tensor(
            state["epoch"][self.accelerator.process_index], device=self.accelerator.device
        )


class EpochOutputs:
    """Keeps what an evaluation gave for each sample until its end, on the CPU.

    Batches come here gathered from all processes and without padding: each keeps its share.
    """

    def __init__(self) -> None:
        self.batches: list[list[torch.Tensor]] = []

    def clear(self) -> None:
        self.batches.clear()

    def add(self, accelerator: Accelerator, *outputs: torch.Tensor) -> None:
        """Keep a batch of tensors that have one entry for each sample."""
        share = slice(accelerator.process_index, None, accelerator.num_processes)
        self.batches.append([output[share].cpu() for output in outputs])

    def gather(self) -> list[torch.Tensor]:
        """All that was kept, of the first process first. All processes call it together."""
        own = [torch.cat(output) for output in zip(*self.batches, strict=True)]
        return [torch.cat(output) for output in zip(*gather_object([own]), strict=True)]


def count_errors(predictions: torch.Tensor, labels: torch.Tensor) -> list[int]:
    """How many samples of each class are taken for another one."""
    classes = int(torch.cat([predictions, labels]).max()) + 1
    return torch.bincount(labels[predictions != labels], minlength=classes).tolist()


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


def format_metrics(metrics: dict[str, float]) -> str:
    return " | ".join(f"{name} {value:.4f}" for name, value in metrics.items())
