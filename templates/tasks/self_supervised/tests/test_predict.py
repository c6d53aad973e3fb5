import torch

from probe import find_right

#: slot functions
def predict_images(config, model, images) -> list[dict]:
    #: region read
    with mock.patch.object(predict, "read_image", lambda image: 255 * image):
        #: end read
        return predict.predict(config, model, images)

#: slot five
rows = predict_images(config, model, list(read_batches(config)[0][0][:5]))

#: replace read when dataset=image_folder
with mock.patch.object(predict, "ImageFiles", lambda images, size: images):

#: slot metric when probe=classes
images, _, labels, known = zip(*read_batches(config), strict=True)
rows = predict_images(config, model, list(torch.cat(images)))
names = [name for name in rows[0] if name.startswith("feature_")]
features = torch.tensor([[row[name] for name in names] for row in rows])
for probe, right in find_right(features, torch.cat(labels), torch.cat(known)).items():
    found = float(right.double().mean())
    assert found == pytest.approx(reported[f"test_{probe}_accuracy"], abs=1e-9)

#: replace metric when probe=none
def test_features_are_those_of_the_model(trained):
    config, model = predict.load(trained[0])
    images = torch.cat([images for images, _ in read_batches(config)])
    rows = predict_images(config, model, list(images))
    found = torch.tensor(
        [[value for name, value in row.items() if name != "image"] for row in rows]
    )
    with torch.no_grad():
        torch.testing.assert_close(found, model(images), rtol=1e-4, atol=1e-5)
