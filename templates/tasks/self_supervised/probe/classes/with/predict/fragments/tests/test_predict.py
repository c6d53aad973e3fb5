import torch
from probe import find_right

#: slot metric
images, _, labels, known = zip(*read_batches(config), strict=True)
rows = predict_images(config, model, list(torch.cat(images)))
names = [name for name in rows[0] if name.startswith("feature_")]
features = torch.tensor([[row[name] for name in names] for row in rows])
for probe, right in find_right(features, torch.cat(labels), torch.cat(known)).items():
    found = float(right.double().mean())
    assert found == pytest.approx(reported[f"test_{probe}_accuracy"], abs=1e-9)
