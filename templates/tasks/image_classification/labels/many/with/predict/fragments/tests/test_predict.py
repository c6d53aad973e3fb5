import torch
from data import class_names
from scores import label_scores

#: replace names
names = class_names(config)

#: replace metric_of_rows
probs = torch.tensor([[row[f"p_{name}"] for name in names] for row in rows])
scores = label_scores(probs.logit(), torch.stack([labels for _, labels in samples]))
for name, value in scores.items():
    assert value == pytest.approx(reported[f"test_{name}"], rel=1e-6)
