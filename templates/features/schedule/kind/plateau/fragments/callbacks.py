#: slot classes
class Plateau:
    """The share of the learning rate that is left, less whenever the score stops to improve.

    More of the score is better. It is the same on all processes, and so is what follows from it.
    """

    def __init__(self, patience: int, factor: float) -> None:
        self.patience, self.factor = patience, factor
        self.share, self.best, self.stale = 1.0, float("-inf"), 0

    def step(self, score: float) -> None:
        """Count an evaluation."""
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
