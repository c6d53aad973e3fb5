import torch

#: replace metric
def test_features_are_those_of_the_model(trained):
    config, model = predict.load(trained[0])
    images = torch.cat([images for images, _ in read_batches(config)])
    rows = predict_images(config, model, list(images))
    found = torch.tensor(
        [[value for name, value in row.items() if name != "image"] for row in rows]
    )
    with torch.no_grad():
        torch.testing.assert_close(found, model(images), rtol=1e-4, atol=1e-5)


