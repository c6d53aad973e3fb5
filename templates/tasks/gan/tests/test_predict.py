import torch

from distance import Moments, frechet_distance

#: slot metric
real, generated = Moments(), Moments()
for batch in read_batches(config):
    #: region images
    images = batch[0]
    #: end images
    numbers = range(real.count, real.count + len(images))
    real.add(images)
    rows = predict.predict(config, model, list(numbers))
    generated.add(torch.stack([row["image"] for row in rows]))
assert frechet_distance(real, generated) == pytest.approx(reported["test_distance"], rel=1e-6)

#: slot five
rows = predict.predict(config, model, list(range(5)))
rows = [{"number": row["number"], "mean": float(row["image"].mean())} for row in rows]

#: replace images when dataset=image_folder
images = batch
