#: file when model=ctc
"""The model: log-mel spectrograms and their lengths in, the letters of each frame out."""

import math

import torch
from torch import Tensor, nn

from data import list_letters


class SpeechEncoder(nn.Module):
    """Log-probabilities (batch, frames, letters) for spectrograms (batch, frames, mels).

    Two convolutions, the first of which halves the frames, and a pre-norm transformer
    encoder (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762). The lengths of the sounds,
    (batch,), tell what is padding, which is masked.
    """

    def __init__(
        self, letters: int, mels: int, width: int, layers: int, dropout: float, heads: int = 4
    ) -> None:
        super().__init__()
        self.halve = nn.Conv1d(mels, width, kernel_size=5, stride=2, padding=2)
        self.mix = nn.Conv1d(width, width, kernel_size=5, padding=2)
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout, batch_first=True, norm_first=True
        )
        # the default warns that norm_first disables nested tensors
        norm = nn.LayerNorm(width)
        self.encoder = nn.TransformerEncoder(layer, layers, norm, enable_nested_tensor=False)
        self.logits = nn.Linear(width, letters)

    def forward(self, spectrograms: Tensor, lengths: Tensor) -> Tensor:
        heard = find_heard(spectrograms.shape[1], lengths)
        x = (spectrograms * heard.unsqueeze(2)).mT  # the bands are the channels
        x = self.halve(x).relu()
        heard = find_heard(x.shape[2], (lengths + 1) // 2)
        x = self.mix(x * heard.unsqueeze(1)).relu().mT
        x = self.encoder(x + positions(x), src_key_padding_mask=~heard)
        return score_letters(self.logits(x), heard)


def positions(x: Tensor) -> Tensor:
    """Sines and cosines for each frame of x, (batch, frames, width)."""
    width = x.shape[2]
    places = torch.arange(x.shape[1], device=x.device).unsqueeze(1)
    exponents = torch.arange(0, width, 2, device=x.device) * (-math.log(10_000) / width)
    angles = places * exponents.exp()
    return torch.cat([angles.sin(), angles.cos()], dim=1)


#: slot functions


def build_model(
    config
    #: slot parameters
) -> nn.Module:
    """The model, before it is prepared."""
    if config.width % 4:
        raise SystemExit(f"--width {config.width} is not a multiple of 4, the number of heads.")
    #: region letters
    letters = list_letters(config)
    #: end letters
    return SpeechEncoder(len(letters), config.mels, config.width, config.layers, config.dropout)
