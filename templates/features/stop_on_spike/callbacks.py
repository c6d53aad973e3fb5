#: slot classes
class StopOnSpike:
    """Ends the run if the loss is far above the running average of earlier losses.

    An average of 0 or less is no measure: then nothing ends. The loss is the same on all
    processes, so all end together. Chowdhery et al. 2022,
    https://arxiv.org/abs/2204.02311, section 5.1, describe what to do then.
    """

    def __init__(self, factor: float, min_reads: int = 5) -> None:
        self.factor, self.min_reads = factor, min_reads
        self.average, self.reads = 0.0, 0

    def check(self, loss: float, step: int) -> None:
        if self.reads >= self.min_reads and loss > self.factor * self.average > 0:
            raise SystemExit(
                f"The loss is {loss:.4g} at step {step}, and was {self.average:.4g} on average: "
                "check the data, or start a new run with a lower learning rate."
            )
        self.reads += 1
        # the mean of the first ten, then an exponential average
        self.average += (loss - self.average) / min(self.reads, 10)

    def state_dict(self) -> dict:
        return {"average": self.average, "reads": self.reads}

    def load_state_dict(self, state: dict) -> None:
        self.average, self.reads = state["average"], state["reads"]
