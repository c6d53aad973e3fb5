#: slot early_stopping_setup
self.reached = False  # whether the score is as good as it has to be

#: replace early_stopping_stop
return self.reached or self.stale >= self.patience

#: replace early_stopping_state
return {"best": self.best, "stale": self.stale, "reached": self.reached}

#: slot early_stopping_load
self.reached = state.get("reached", False)  # a run may begin without a threshold
