import torch
from math import ceil

import torch.nn.functional as F

#: slot model
class Transformer(nn.Module):
    """Outputs of shape (batch, outputs) for contexts of shape (batch, context).

    Patches of a context are the tokens: https://arxiv.org/abs/2211.14730. It sees, and returns,
    differences to the last value, so the level of a series does not matter.
    """

    def __init__(
        self, context: int, outputs: int, patch: int, width: int, layers: int, dropout: float
    ) -> None:
        super().__init__()
        count = ceil(context / patch)
        self.patch, self.padding = patch, count * patch - context
        self.embedding = nn.Linear(patch, width)
        self.positions = nn.Parameter(torch.randn(count, width) * 0.02)
        layer = nn.TransformerEncoderLayer(
            width, nhead=4, dim_feedforward=4 * width, dropout=dropout, batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(count * width, outputs)

    def forward(self, contexts: Tensor) -> Tensor:
        last = contexts[:, -1:]
        padded = F.pad((contexts - last)[:, None], (self.padding, 0), mode="replicate")[:, 0]
        tokens = self.embedding(padded.unflatten(1, (-1, self.patch))) + self.positions
        return last + self.head(self.layers(tokens).flatten(1))

#: slot build_model
if config.width % 4:
    raise SystemExit(f"--width {config.width}: use a multiple of 4, the number of heads.")
model = Transformer(
    config.context,
    {{ task.outputs }},
    config.patch,
    config.width,
    config.layers,
    config.dropout,
)
