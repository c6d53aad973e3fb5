from data import EvalStream

#: replace take
samples = loader.dataset.data
return EvalStream(Subset(samples, [index % len(samples) for index in range(size)]))
