#: file when model=cnn
"""The model: log-mel spectrograms and their lengths in, one logit for each class out."""

from itertools import pairwise

import torch
from torch import Tensor, nn

from data import class_names


class SoundCNN(nn.Module):
    """Logits (batch, classes) for spectrograms (batch, frames, mels) and their lengths (batch,).

    Frames beyond the length of a sound are 0 in each layer, so padding changes nothing.
    """

    def __init__(self, classes: int, mels: int, width: int) -> None:
        super().__init__()
        channels = [1, width, 2 * width, 4 * width, 4 * width]
        self.layers = nn.ModuleList(
            nn.Conv2d(inputs, outputs, kernel_size=3, stride=2, padding=1)
            for inputs, outputs in pairwise(channels)
        )
        self.head = nn.Linear(channels[-1] * -(-mels // 16), classes)  # each layer halves the bands

    def forward(self, spectrograms: Tensor, lengths: Tensor) -> Tensor:
        x = hide_padding(spectrograms.unsqueeze(1), lengths)
        for layer in self.layers:
            lengths = (lengths + 1) // 2
            x = hide_padding(layer(x).relu(), lengths)
        mean = x.sum(dim=2) / lengths.reshape(-1, 1, 1)
        return self.head(mean.flatten(1))


def hide_padding(x: Tensor, lengths: Tensor) -> Tensor:
    """Set frames beyond the lengths to 0. x has the shape (batch, channels, frames, bands)."""
    frames = torch.arange(x.shape[2], device=x.device)
    return x * (frames < lengths.unsqueeze(1)).unsqueeze(1).unsqueeze(3)


def build_model(
    config
    #: slot parameters
) -> nn.Module:
    """The model, before it is prepared."""
    #: region names
    names = class_names(config)
    #: end names
    return SoundCNN(len(names), config.mels, config.width)
