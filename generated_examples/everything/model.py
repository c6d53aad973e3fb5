"""The model: images in, one logit for each class out."""

from torch import Tensor, nn


class ConvNet(nn.Module):
    """Logits of shape (batch, classes) for grayscale images of shape (batch, 1, height, width)."""

    def __init__(self, classes: int, width: int = 32, dropout: float = 0.3) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, kernel_size=3, padding=1),
            nn.GroupNorm(8, width),
            nn.ReLU(),
            nn.Conv2d(width, 2 * width, kernel_size=3, padding=1),
            nn.GroupNorm(8, 2 * width),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(dropout), nn.Linear(32 * width, classes))

    def forward(self, images: Tensor) -> Tensor:
        return self.head(self.features(images))


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    return ConvNet(classes=10)
