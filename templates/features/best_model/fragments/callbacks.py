from pathlib import Path

#: slot classes
class BestModel:
    """Remembers the best score so far, of which more is better, and where its weights are."""

    def __init__(self, path: Path) -> None:
        self.path, self.best = path, float("-inf")

    def improved(self, score: float) -> bool:
        """Whether this score is the best so far."""
        if not score > self.best:  # nor is NaN an improvement
            return False
        self.best = score
        return True

    @property
    def found(self) -> bool:
        """Whether there is one: a run may stop before its first evaluation, or see only NaN."""
        return self.best > float("-inf")

    def state_dict(self) -> dict:
        return {"best": self.best}

    def load_state_dict(self, state: dict) -> None:
        if self.path.exists():  # not so in another folder: there the best is of what comes
            self.best = state["best"]
