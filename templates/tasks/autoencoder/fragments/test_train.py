import pytest
import train
from torch import nn

#: slot after_resume
pictures = sorted(path.name for path in whole.parent.glob("reconstructions_*.png"))
assert pictures, "there is one for each evaluation"
assert_same_files(whole.parent, resumed.parent, pictures)

#: slot tests
def test_psnr_of_a_known_error():
    """Images that are off by a tenth of their range: 10 * log10(1 / 0.1**2) decibels."""

    class Brighter(nn.Module):
        def forward(self, images):
            return images + 0.1

    loader = build_loaders(train.Config(**SETTINGS))[1]
    metrics = train.evaluate(Brighter(), loader, Accelerator(), "val", 0)
    assert metrics == pytest.approx({"val_loss": 0.01, "val_psnr": 20.0}, rel=1e-4)
