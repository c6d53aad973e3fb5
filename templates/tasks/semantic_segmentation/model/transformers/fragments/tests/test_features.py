import torch
import train
from helpers import SETTINGS
from model import build_model

#: slot tests
def test_weights_that_are_trained_get_a_gradient():
    """On several processes, DistributedDataParallel waits for it."""
    config = train.Config(**SETTINGS)
    model = build_model(config)
    images = torch.rand(2, 3, config.image_size, config.image_size)
    model(images).square().sum().backward()
    found = {name for name, weight in model.named_parameters() if weight.grad is not None}
    assert found == {name for name, weight in model.named_parameters() if weight.requires_grad}
