from torch import Tensor

#: slot model
class ConvNet(nn.Module):
    """Logits of shape (batch, classes) for {{ task.kind }} images of shape (batch, {{ task.channels }}, height, width)."""

    def __init__(self, classes: int, width: int = 32, dropout: float = 0.3) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d({{ task.channels }}, width, kernel_size=3, padding=1),
            nn.GroupNorm(8, width),
            nn.ReLU(),
            nn.Conv2d(width, 2 * width, kernel_size=3, padding=1),
            nn.GroupNorm(8, 2 * width),
            nn.ReLU(),
            {{ task.pooling }}
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(dropout), nn.Linear(32 * width, classes))

    def forward(self, images: Tensor) -> Tensor:
        #: slot scale
        return self.head(self.features(images))

#: slot build_model
return ConvNet(classes={{ task.classes }})
