#: slot progress without stream
samples: tuple[int, ...] = ()  # in the training, validation and test data

#: slot load_progress without stream
old, new = state.get("samples", self.samples), self.samples
if new != old:  # the parts are drawn from all samples: test samples would be trained
    raise SystemExit(f"The data had {old} samples, and now have {new}: start a new run.")
