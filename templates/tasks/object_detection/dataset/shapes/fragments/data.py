from math import cos, hypot, pi, sin
from random import Random

from PIL import ImageDraw

#: slot build_datasets
CLASSES = ["disc", "square", "triangle"]


def class_names(config) -> list[str]:
    return CLASSES


def build_datasets(config) -> list[Dataset]:
    """1,200 drawn images and their objects, split into training, validation and test data."""
    rng = Random(0)
    drawn = [draw_shapes(config.image_size, rng) for _ in range(1200)]
    # a fixed seed: another --seed must not move test samples into the training data
    split = torch.Generator().manual_seed(0)
    return random_split(drawn, [0.8, 0.1, 0.1], generator=split)


def draw_shapes(size: int, rng: Random) -> tuple[Tensor, Objects]:
    """Up to three shapes of any color on noise, without overlap."""
    image = Image.frombytes("RGB", (size, size), rng.randbytes(3 * size * size))
    image = image.point(lambda value: value // 3)
    drawn, boxes, labels = [], [], []
    #: slot no_masks
    for _ in range(rng.randint(0, 3)):
        label = rng.randrange(len(CLASSES))
        radius = rng.uniform(0.1, 0.25) * size
        x, y = (rng.uniform(radius, size - radius) for _ in range(2))
        if any(hypot(x - a, y - b) < radius + other for a, b, other in drawn):
            continue
        drawn.append((x, y, radius))
        color = tuple(rng.randrange(130, 256) for _ in range(3))
        sides, start = [(40, 0.0), (4, pi / 4), (3, pi / 6)][label]
        angles = [start + 2 * pi * side / sides for side in range(sides)]
        corners = [(x + radius * cos(angle), y + radius * sin(angle)) for angle in angles]
        ImageDraw.Draw(image).polygon(corners, fill=color)
        #: slot draw_mask
        horizontal, vertical = zip(*corners, strict=True)
        boxes.append((min(horizontal), min(vertical), max(horizontal), max(vertical)))
        labels.append(label)
    return to_tensor(image, size), {
        "boxes": torch.tensor(boxes, dtype=torch.float32).reshape(-1, 4),
        "labels": torch.tensor(labels, dtype=torch.int64),
        "crowd": torch.zeros(len(boxes), dtype=torch.bool),
        #: slot masks
    }
