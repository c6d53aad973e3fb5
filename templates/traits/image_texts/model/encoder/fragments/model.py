import torch.nn.functional as F

#: replace sizes
width = config.width

#: replace classes

#: slot encoder
class ImageEncoder(nn.Module):
    """Vectors (batch, width) at length 1 for {{ task.kind }} images, shape (batch, {{ task.channels }}, size, size)."""

    def __init__(self, config, channels: int = 32) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d({{ task.channels }}, channels, kernel_size=3, padding=1),
            nn.GroupNorm(8, channels),
            nn.ReLU(),
            nn.Conv2d(channels, 2 * channels, kernel_size=3, padding=1),
            nn.GroupNorm(8, 2 * channels),
            nn.ReLU(),
            {{ task.pooling }}
            nn.Flatten(),
            nn.Dropout(config.dropout),
            nn.Linear(32 * channels, config.width),
        )

    def forward(self, images: Tensor) -> Tensor:
        return F.normalize(self.layers(images), dim=1)

#: slot towers_built
self.images, self.texts = ImageEncoder(config), Encoder(config)
self.log_scale = nn.Parameter(torch.tensor([-log(config.start_temperature)]))

#: slot embed_images
return self.images(images)

#: slot embed_texts
return self.texts(tokens, mask)

#: replace built
return TwoTowers(config)
