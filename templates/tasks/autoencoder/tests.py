import gradio as gr
import pytest
import torch
from accelerate import Accelerator
from PIL import Image
from torch import nn

import train
from data import build_loaders
from helpers import SETTINGS
from model import build_model

#: into tests/test_app.py
#: slot values
Image.new("RGB", (20, 30), (200, 100, 0)).save(tmp_path / "image.png")
with pytest.raises(gr.Error, match="Choose an image first"):
    page.fn(None)
values = [str(tmp_path / "image.png")]

#: slot expected
[row] = app.predict(config, model, values)
assert shown[1] == row["error"]
assert shown[0].height > shown[0].width, "the image, and its reconstruction below"

#: into tests/test_features.py
#: slot tests
def test_psnr_of_a_known_error():
    """The images are off by a tenth of their range: 10 * log10(1 / 0.1**2) decibels."""

    class Brighter(nn.Module):
        def forward(self, images):
            return images + 0.1

    loader = build_loaders(train.Config(**SETTINGS))[1]
    metrics = train.evaluate(Accelerator(), Brighter(), loader, "val", 0)
    assert metrics == pytest.approx({"val_loss": 0.01, "val_psnr": 20.0}, rel=1e-4)

#: slot tests when dataset=image_folder
@pytest.mark.parametrize("size", [8, 12, 50, 64])
def test_the_model_fits_the_size(size):
    config = train.Config(**{**SETTINGS, "image_size": size})
    images = torch.rand(2, 3, size, size)
    model = build_model(config)
    assert model(images).shape == images.shape
    assert model.encoder(images).shape == (2, config.latent)

#: into tests/test_predict.py
#: slot functions
def predict_images(config, model, images) -> list[dict]:
    #: region read
    with mock.patch.object(predict, "read_image", lambda image: 255 * image):
        #: end read
        return predict.predict(config, model, images)

#: slot metric
#: region images
images = [image for batch in read_batches(config) for image in batch[0]]
#: end images
errors = [row["error"] for row in predict_images(config, model, images)]
assert sum(errors) / len(errors) == pytest.approx(reported["test_loss"], rel=1e-6)

#: slot five
#: region five_images
rows = predict_images(config, model, list(read_batches(config)[0][0][:5]))
#: end five_images

#: replace read when dataset=image_folder
with mock.patch.object(predict, "ImageFiles", lambda images, size: images):

#: replace images when dataset=image_folder
images = [image for batch in read_batches(config) for image in batch]

#: replace five_images when dataset=image_folder
rows = predict_images(config, model, list(read_batches(config)[0][:5]))
