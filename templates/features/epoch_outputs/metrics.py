from accelerate.utils import gather_object

#: slot classes
class EpochOutputs:
    """Keeps the outputs of an evaluation until its end, on the CPU.

    Each added batch has the samples of all processes without padding; each process keeps its
    share.
    """

    def __init__(self) -> None:
        self.batches: list[list[torch.Tensor]] = []

    def clear(self) -> None:
        self.batches.clear()

    def add(self, accelerator: Accelerator, *outputs: torch.Tensor) -> None:
        """Keep a batch: tensors with one entry for each sample."""
        share = slice(accelerator.process_index, None, accelerator.num_processes)
        self.batches.append([output[share].cpu() for output in outputs])

    def gather(self) -> list[torch.Tensor]:
        """The outputs of all samples. Call it on all processes."""
        own = [torch.cat(output) for output in zip(*self.batches, strict=True)]
        return [torch.cat(output) for output in zip(*gather_object([own]), strict=True)]


def count_errors(predictions: torch.Tensor, labels: torch.Tensor) -> list[int]:
    """The number of misclassified samples of each class."""
    classes = int(torch.cat([predictions, labels]).max()) + 1
    return torch.bincount(labels[predictions != labels], minlength=classes).tolist()
