#: slot classes
class HardBatches:
    """The share of training batches whose loss is above a limit: a pattern for your own metrics.

    Each process counts its hard batches and all its batches, on the device. The processes add up
    their counts only when a value is read.
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
        """The share over all processes. Call it on all processes."""
        hard, batches = self.accelerator.reduce(counts, "sum").tolist()
        return hard / max(batches, 1)

    def read_step(self) -> float:
        """The share in the last batch of each process. Call it on all processes."""
        return self.share(self.step)

    def end_epoch(self) -> float:
        """The share in the epoch. Call it on all processes."""
        share = self.share(self.epoch)
        self.epoch.zero_()
        return share

    def state_dict(self) -> dict:
        """The counts of each process in this epoch. Call it on all processes."""
        return {"epoch": self.accelerator.gather(self.epoch).reshape(-1, 2).tolist()}

    def load_state_dict(self, state: dict) -> None:
        self.epoch = torch.tensor(
            state["epoch"][self.accelerator.process_index], device=self.accelerator.device
        )
