#: slot early_stopping_setup
self.reached = False  # the threshold

#: replace early_stopping_stop
return self.reached or 0 < self.patience <= self.stale

#: replace early_stopping_state
return {"best": self.best, "stale": self.stale, "reached": self.reached}

#: slot early_stopping_load
self.reached = state.get("reached", False)  # the run may have started without a threshold
