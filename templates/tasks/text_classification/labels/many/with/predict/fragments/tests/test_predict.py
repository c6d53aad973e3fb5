from data import class_names
import torch
from scores import label_scores

#: replace metric_of_rows
names = class_names(config)
probs = torch.tensor([[row[f"p_{name}"] for name in names] for row in rows])
scores = label_scores(probs.logit(), torch.tensor(labels))
for name, value in scores.items():
    assert value == pytest.approx(reported[f"test_{name}"], rel=1e-6)
