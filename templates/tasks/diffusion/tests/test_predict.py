import torch

from distance import Moments, frechet_distance

#: slot metric
real, generated = Moments(), Moments()
#: region numbers
for images, *_ in read_batches(config):
    numbers = range(real.count, real.count + len(images))
    #: end numbers
    real.add(images)
    #: region predicted
    rows = predict.predict(config, model, list(numbers))
    #: end predicted
    generated.add(torch.stack([row["image"] for row in rows]))
assert frechet_distance(real, generated) == pytest.approx(reported["test_distance"], rel=1e-5)

#: slot five
#: region five_rows
rows = predict.predict(config, model, list(range(5)))
#: end five_rows
rows = [{"number": row["number"], "mean": float(row["image"].mean())} for row in rows]

#: replace numbers when condition=classes
for images, labels, *_ in read_batches(config):
    numbers = range(real.count, real.count + len(images))

#: replace predicted when condition=classes
pairs = list(zip(numbers, labels.tolist(), strict=True))
rows = predict.predict(config, model, pairs, guidance=1.0)

#: replace five_rows when condition=classes
rows = predict.predict(config, model, [(number, 1) for number in range(5)])
