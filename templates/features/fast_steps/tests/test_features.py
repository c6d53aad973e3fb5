import inspect
from importlib.machinery import PathFinder
from unittest import mock

import torch
from accelerate import Accelerator

from workarounds import skip_search_for_lomo, skip_signature_of_zero_grad

#: slot tests
def test_a_step_searches_neither_the_disk_nor_signatures():
    skip_search_for_lomo()
    skip_signature_of_zero_grad()
    model = torch.nn.Linear(2, 2)
    optimizer = Accelerator().prepare(torch.optim.SGD(model.parameters(), lr=0.1))
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    needless = mock.Mock(side_effect=AssertionError("Accelerate does needless work in a step"))
    with (
        mock.patch.object(inspect, "signature", needless),
        mock.patch.object(PathFinder, "find_spec", needless),
    ):
        optimizer.step()
        optimizer.zero_grad()
    assert model.weight.grad is None
