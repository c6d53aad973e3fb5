import pytest
import torch

from data import class_names
from lib.scores import label_scores

#: slot functions
def predict_images(config, model, images) -> list[dict]:
    #: region read
    with mock.patch.object(predict, "read_image", lambda image: 255 * image):
        #: end read
        return predict.predict(config, model, images)

#: slot metric
samples = [sample for batch in read_batches(config) for sample in zip(*batch, strict=True)]
#: region names
names = [str(digit) for digit in range(10)]
#: end names
rows = predict_images(config, model, [image for image, _ in samples])
#: region metric_of_rows
right = sum(row["label"] == names[label] for row, (_, label) in zip(rows, samples, strict=True))
assert right / len(samples) == pytest.approx(reported["test_accuracy"], rel=1e-6)
#: end metric_of_rows

#: slot five
rows = predict_images(config, model, list(read_batches(config)[0][0][:5]))

#: replace read when dataset=image_folder|huggingface
with mock.patch.object(predict, "read_images", lambda _, images: torch.stack(images)):

#: replace names when dataset=image_folder|huggingface
names = class_names(config)

#: replace read when dataset=csv
with mock.patch.object(predict, "read_images", lambda _, images: torch.stack(images)):

#: replace names when labels=many
names = class_names(config)

#: replace metric_of_rows when labels=many
probs = torch.tensor([[row[f"p_{name}"] for name in names] for row in rows])
scores = label_scores(probs.logit(), torch.stack([labels for _, labels in samples]))
for name, value in scores.items():
    assert value == pytest.approx(reported[f"test_{name}"], rel=1e-6)

#: replace names when labels=number

#: replace metric_of_rows when labels=number
errors = [abs(row["prediction"] - float(number)) for row, (_, number) in zip(rows, samples, strict=True)]
assert sum(errors) / len(samples) == pytest.approx(reported["test_mae"], rel=1e-5)

#: replace names when dataset=csv labels=one
names = class_names(config)
