import torch
from distance import Moments

#: slot tests
def test_the_distance_needs_no_matrix_of_all_pixels():
    moments = Moments()
    moments.add(torch.rand(2, 3, 256, 256))
    assert moments.covariance.shape == (192, 192)
