import torch

from data import build_datasets, class_names
from lib.scores import label_scores

#: slot metric
seen = sum(len(batch["labels"]) for batch in read_batches(config))
texts, labels = zip(*build_datasets(config)[2][:seen], strict=True)
rows = predict.predict(config, model, [text if len(text) > 1 else text[0] for text in texts])
#: region metric_of_rows
names = class_names(config)
right = sum(row["label"] == names[label] for row, label in zip(rows, labels, strict=True))
assert right / seen == pytest.approx(reported["test_accuracy"], rel=1e-12)
#: end metric_of_rows

#: slot five
texts = [text for text, _ in build_datasets(config)[2][:5]]
rows = predict.predict(config, model, [text if len(text) > 1 else text[0] for text in texts])

#: replace metric_of_rows when labels=many
names = class_names(config)
probs = torch.tensor([[row[f"p_{name}"] for name in names] for row in rows])
scores = label_scores(probs.logit(), torch.tensor(labels))
for name, value in scores.items():
    assert value == pytest.approx(reported[f"test_{name}"], rel=1e-6)

#: replace metric_of_rows when labels=number
errors = [abs(row["prediction"] - number) for row, number in zip(rows, labels, strict=True)]
assert sum(errors) / seen == pytest.approx(reported["test_mae"], rel=1e-5)
