#: replace need_samples
