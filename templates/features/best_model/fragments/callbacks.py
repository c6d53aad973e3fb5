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

    def state_dict(self) -> dict:
        return {"best": self.best}

    def load_state_dict(self, state: dict) -> None:
        self.best = state["best"]
