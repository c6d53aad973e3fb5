#: when project.task=diffusion|gan
import pytest
import torch

from distance import Moments, frechet_distance

#: slot tests
def test_distance_of_known_moments():
    """Of equal pixels with means 0 and 3 and standard deviations 1 and 2: (3 - 0)² + (2 - 1)²."""
    one, other = Moments(), Moments()
    for value in (-1.0, 1.0):  # moments of several batches add up
        one.add(torch.full((1, 1, 8, 8), value))
        other.add(torch.full((1, 1, 8, 8), 3 + 2 * value))
    assert frechet_distance(one, other) == pytest.approx(64 * 10.0)
    assert frechet_distance(one, one) == pytest.approx(0.0, abs=1e-9)

#: slot tests when dataset=image_folder
def test_the_distance_needs_no_matrix_of_all_pixels():
    moments = Moments()
    moments.add(torch.rand(2, 3, 256, 256))
    assert moments.covariance.shape == (192, 192)
