#: slot classes
class EarlyStopping:
    """Counts the epochs since the score, of which more is better, last improved."""

    def __init__(self, patience: int, min_delta: float) -> None:
        self.patience, self.min_delta = patience, min_delta
        self.best, self.stale = float("-inf"), 0

    @property
    def stop(self) -> bool:
        return self.stale >= self.patience

    def step(self, score: float) -> None:
        if score > self.best + self.min_delta:
            self.best, self.stale = score, 0
        else:
            self.stale += 1

    def state_dict(self) -> dict:
        return {"best": self.best, "stale": self.stale}

    def load_state_dict(self, state: dict) -> None:
        self.best, self.stale = state["best"], state["stale"]
