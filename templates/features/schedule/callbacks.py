#: slot classes when kind=plateau
class Plateau:
    """A factor for the learning rate, which falls when the score stops improving.

    Higher is better. The scores are the same on all processes, and so is the factor.
    """

    def __init__(self, patience: int, factor: float) -> None:
        self.patience, self.factor = patience, factor
        self.share, self.best, self.stale = 1.0, float("-inf"), 0

    def update(self, score: float) -> None:
        """Lower the rate after `patience` evaluations without a better score."""
        if score > self.best:
            self.best, self.stale = score, 0
            return
        self.stale += 1
        if self.stale >= self.patience:
            self.share, self.stale = self.share * self.factor, 0

    def state_dict(self) -> dict:
        return {"share": self.share, "best": self.best, "stale": self.stale}

    def load_state_dict(self, state: dict) -> None:
        self.share, self.best, self.stale = state["share"], state["best"], state["stale"]
