#: file when optimizer=muon
"""Muon for the matrices of hidden layers, with AdamW for all other weights."""

from collections.abc import Callable

import torch
from torch import nn
from torch.optim import AdamW, Muon, Optimizer


def find_hidden_matrices(model: nn.Module) -> list[nn.Parameter]:
    """The trained matrices inside of repeated blocks: no embedding and no output layer."""
    found = {}
    for blocks in model.modules():
        if isinstance(blocks, nn.ModuleList):
            for module in blocks.modules():
                if not isinstance(module, nn.Embedding):
                    weights = module.parameters(recurse=False)
                    found |= {id(w): w for w in weights if w.ndim == 2 and w.requires_grad}
    return list(found.values())


class MuonWithAdamW(Optimizer):
    """Makes the update of each hidden matrix orthogonal; AdamW moves the other weights.

    Jordan and others 2024, https://kellerjordan.github.io/posts/muon. Updates of matrices are
    scaled as large as those of AdamW, so that both share the learning rate and the weight decay:
    Liu and others 2025, "Muon is Scalable for LLM Training", section 2.2,
    https://arxiv.org/abs/2502.16982.
    """

    def __init__(self, model: nn.Module, lr: float, weight_decay: float) -> None:
        hidden = find_hidden_matrices(model)
        if not hidden:
            raise SystemExit("Muon needs layers with matrices in an nn.ModuleList: use AdamW.")
        known = {id(weight) for weight in hidden}
        others = [weight for weight in model.parameters() if id(weight) not in known]
        self.muon = Muon(hidden, lr, weight_decay, adjust_lr_fn="match_rms_adamw")
        self.adamw = AdamW(others, lr, weight_decay=weight_decay)
        super().__init__([*self.muon.param_groups, *self.adamw.param_groups], {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:
        """Move the parameters that have a gradient. The closure is ignored."""
        hidden, others = self.param_groups  # other objects after `load_state_dict`
        for part, group in ((self.muon, hidden), (self.adamw, others)):
            part.param_groups, part.state = [group], self.state
            part.step()
