#: slot encoder
class ConvNet(nn.Module):
    """Features of {{ task.kind }} images: (batch, {{ task.channels }}, size, size) to (batch, features)."""

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before, after = {{ task.channels }}, width
        while size >= 4:  # each level sees the image at half the size
            for inputs in (before, after):
                layers += [nn.Conv2d(inputs, after, kernel_size=3, padding=1)]
                layers += [nn.GroupNorm(8, after), nn.ReLU()]
            layers.append(nn.MaxPool2d(2))
            size, before, after = size // 2, after, min(2 * after, 8 * width)
        self.features = before
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())

    def forward(self, images: Tensor) -> Tensor:
        return self.layers(images)

#: slot built
if config.width % 8:
    raise SystemExit(f"--width {config.width} is not a multiple of 8, the number of groups.")
encoder = ConvNet({{ task.size }}, config.width)
return Projected(encoder, encoder.features, config)
