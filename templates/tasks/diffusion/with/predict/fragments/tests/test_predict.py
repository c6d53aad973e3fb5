from distance import Moments, frechet_distance
import torch

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
