from accelerate.utils import gather_object

#: slot classes
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
