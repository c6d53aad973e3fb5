import pytest

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
