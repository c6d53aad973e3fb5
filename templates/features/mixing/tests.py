from unittest import mock

import pytest
import torch

import test_resume
import train
from helpers import SETTINGS, build_exact_model, column, run
from mixing import mix

#: into tests/helpers.py
#: slot settings
"mixing_probability": 0.0,  # 2 processes would mix differently than one

#: into tests/test_features.py
#: slot tests
@pytest.mark.parametrize(("alpha", "probability"), [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])
def test_an_image_has_its_share(alpha, probability):
    """The mean of a mixed image is the weighted mean of both images."""
    torch.manual_seed(0)
    labels = torch.arange(8)
    images = labels.float().reshape(8, 1, 1, 1).expand(8, 1, 16, 16)
    mixed, others, share = mix(images, labels, alpha, probability)
    expected = share * labels + (1 - share) * others
    torch.testing.assert_close(mixed.mean(dim=(1, 2, 3)), expected)
    assert (0 < share < 1) if alpha and probability else torch.equal(mixed, images)


def test_the_loss_is_that_of_both_labels(tmp_path, monkeypatch, capsys):
    """With equal labels, the loss is that of the label; a wrong label changes it."""

    def loss(name: str, share: float, wrong: int) -> float:
        def mix(images, labels, alpha, probability):
            return images, (labels + wrong) % 2, share

        monkeypatch.setattr(train, "mix", mix)
        with mock.patch.object(train, "build_model", build_exact_model):
            run(tmp_path / name, epochs=1, max_steps=1)
        return float(column(capsys.readouterr().out, "loss")[0])

    alone = loss("alone", 1.0, 0)
    other = loss("other", 0.0, 1)
    both = loss("both", 0.25, 1)
    assert other != pytest.approx(alone, abs=1e-3)
    assert both == pytest.approx(0.25 * alone + 0.75 * other, abs=2e-4)

#: slot tests with checkpoints
def test_resume_draws_the_same_mixture(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(SETTINGS, "mixing_probability", 1.0)
    test_resume.test_resume_is_exact(tmp_path, monkeypatch, capsys)
