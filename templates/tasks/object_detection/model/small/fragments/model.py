#: slot model
class Backbone(nn.Module):
    """Features of images, shape (batch, 3, height, width), at strides 4, 8, 16 and 32."""

    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        pairs = zip([3, *widths], widths, strict=False)
        self.levels = nn.ModuleList(build_level(*pair, stride=2) for pair in pairs)

    def forward(self, images: Tensor) -> list[Tensor]:
        features = [images]
        for level in self.levels:
            features.append(level(features[-1]))
        return features[2:]

#: slot build_model
if config.width % 8:
    raise SystemExit(f"--width {config.width} is not a multiple of 8, the number of groups.")
widths = [config.width * factor for factor in (1, 2, 4, 4, 4)]
classes = len(class_names(config))
return Detector(Backbone(widths), widths[1:], classes, 2 * config.width)
