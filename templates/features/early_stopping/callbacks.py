#: slot classes
class EarlyStopping:
    """Stops a run after `patience` evaluations without a better score. Higher is better."""

    def __init__(self, patience: int, min_delta: float) -> None:
        self.patience, self.min_delta = patience, min_delta
        self.best, self.stale = float("-inf"), 0
        #: slot early_stopping_setup

    @property
    def should_stop(self) -> bool:
        #: region early_stopping_stop
        return 0 < self.patience <= self.stale
        #: end early_stopping_stop

    def update(self, score: float) -> None:
        if score > self.best + self.min_delta:
            self.best, self.stale = score, 0
        else:
            self.stale += 1

    def state_dict(self) -> dict:
        #: region early_stopping_state
        return {"best": self.best, "stale": self.stale}
        #: end early_stopping_state

    def load_state_dict(self, state: dict) -> None:
        self.best, self.stale = state["best"], state["stale"]
        #: slot early_stopping_load

#: slot early_stopping_setup when threshold=given
self.reached = False  # the threshold

#: replace early_stopping_stop when threshold=given
return self.reached or 0 < self.patience <= self.stale

#: replace early_stopping_state when threshold=given
return {"best": self.best, "stale": self.stale, "reached": self.reached}

#: slot early_stopping_load when threshold=given
self.reached = state.get("reached", False)  # the run may have started without a threshold
