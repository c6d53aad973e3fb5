import pytest
import torch
from torch import nn

import train
from helpers import SETTINGS
from model import build_model

#: into tests/test_features.py
#: slot tests
def test_branches_are_skipped_while_training_alone():
    torch.manual_seed(0)
    model = build_model(train.Config(**{**SETTINGS, "stochastic_depth_rate": 0.5})).backbone.eval()
    images = torch.rand(1, 3, 32, 32).expand(8, -1, -1, -1)
    for weights in model.parameters():
        if weights.ndim == 1:  # the branches of some models begin as zeros
            nn.init.ones_(weights)
    with torch.no_grad():
        assert len(model(images).unique(dim=0)) == 1
        for module in model.modules():
            if type(module).__name__ == "DropPath":
                module.train()
        assert len(model(images).unique(dim=0)) > 1, "each sample skips its own branches"


def test_a_model_without_branches_is_refused():
    with pytest.raises(SystemExit, match="vgg11 has no residual branches"):
        build_model(train.Config(**{**SETTINGS, "backbone": "vgg11"}))
