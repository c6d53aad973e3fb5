import torch
from bootstrap import find_intervals

#: slot tests
def test_an_interval_leaves_out_resamples_without_objects():
    """Their precision is -1. One image of three has objects, and each of them is missed."""
    columns = {"loss": torch.ones(3), "target": torch.tensor([[2, 1], [0, 0], [0, 0]])}
    found = find_intervals(columns, lambda part: {"map": 0.0 if part["target"].any() else -1.0})
    assert found == {"map": {"low": 0.0, "high": 0.0}}
    columns["target"].zero_()
    found = find_intervals(columns, lambda part: {"map": -1.0})
    assert found == {"map": {"low": -1.0, "high": -1.0}}
