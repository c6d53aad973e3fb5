"""The model: images in, one logit for each class out."""

from torch import Tensor, nn


class ConvNet(nn.Module):
    """Logits of shape (batch, classes) for grayscale images of shape (batch, 1, 8, 8)."""

    def __init__(self, classes: int, channels: int = 32, dropout: float = 0.3) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, channels, kernel_size=3, padding=1),
            nn.GroupNorm(8, channels),
            nn.ReLU(),
            nn.Conv2d(channels, 2 * channels, kernel_size=3, padding=1),
            nn.GroupNorm(8, 2 * channels),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        flat = 2 * channels * 4 * 4
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(dropout), nn.Linear(flat, classes))

    def forward(self, images: Tensor) -> Tensor:
        return self.head(self.features(images))


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    return ConvNet(classes=10)
