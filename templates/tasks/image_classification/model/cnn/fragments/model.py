from torch import Tensor

#: slot model
class ConvNet(nn.Module):
    """Logits of shape (batch, classes) for {{ task.kind }} images of shape (batch, {{ task.channels }}, {{ task.sides }})."""

    def __init__(self, classes: int, channels: int = 32, dropout: float = 0.3) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d({{ task.channels }}, channels, kernel_size=3, padding=1),
            nn.GroupNorm(8, channels),
            nn.ReLU(),
            nn.Conv2d(channels, 2 * channels, kernel_size=3, padding=1),
            nn.GroupNorm(8, 2 * channels),
            nn.ReLU(),
            {{ task.pooling }}
        )
        flat = 2 * channels * 4 * 4
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(dropout), nn.Linear(flat, classes))

    def forward(self, images: Tensor) -> Tensor:
        #: slot scale
        return self.head(self.features(images))

#: slot build_model
return ConvNet(classes={{ task.classes }})
