import torch.nn.functional as F
from boxes import STRIDE, find_centers
from data import class_names

#: slot model
class Detector(nn.Module):
    """A box and a logit for each class at places that are 4 pixels apart.

    The output has the shape (batch, places, 4 + classes): the box in pixels, then the logits. The
    network is a U-Net without its upper levels: each place sees the image at 4, 8, 16 and 32 pixels.
    """

    def __init__(self, classes: int, width: int) -> None:
        super().__init__()
        widths = [width, 2 * width, 4 * width, 4 * width, 2 * width]
        self.down = nn.ModuleList(
            build_level(inputs, outputs, stride=2)
            for inputs, outputs in zip([3, *widths], widths, strict=False)
        )
        self.side = nn.ModuleList(nn.Conv2d(size, 2 * width, kernel_size=1) for size in widths[3:0:-1])
        self.up = nn.ModuleList(build_level(2 * width, 2 * width) for _ in self.side)
        self.head = nn.Conv2d(2 * width, 4 + classes, kernel_size=1)
        nn.init.constant_(self.head.bias[4:], -4.6)  # at first 1 % of the places have an object

    def forward(self, images: Tensor) -> Tensor:
        x, seen = images, []
        for level in self.down:
            x = level(x)
            seen.append(x)
        for level, side, above in zip(self.up, self.side, seen[3:0:-1], strict=True):
            x = F.interpolate(x, above.shape[-2:])  # also for sizes that are no multiples of 32
            x = level(x + side(above))
        values = self.head(x).float().flatten(2).transpose(1, 2)
        moves, sizes, logits = values.split([2, 2, values.shape[2] - 4], dim=2)
        centers = find_centers(len(values[0]), images.device) + STRIDE * moves
        half = STRIDE * sizes.clamp(max=8).exp() / 2
        return torch.cat([centers - half, centers + half, logits], dim=2)


def build_level(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    """Two convolutions."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel_size=3, stride=stride, padding=1),
        nn.GroupNorm(8, outputs),
        nn.ReLU(),
        nn.Conv2d(outputs, outputs, kernel_size=3, padding=1),
        nn.GroupNorm(8, outputs),
        nn.ReLU(),
    )

#: slot build_model
return Detector(len(class_names(config)), config.width)
