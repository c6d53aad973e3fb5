from math import cos, pi, sin
from random import Random

from PIL import ImageDraw
from torch.utils.data import TensorDataset

#: slot build_datasets
CLASSES = ["background", "disc", "square", "triangle"]


def build_datasets(config) -> list[Dataset]:
    """1,200 drawn images with their masks, split into training, validation and test data."""
    rng = Random(0)
    drawn = [draw_shapes(config.image_size, rng) for _ in range(1200)]
    images, masks = (torch.stack(parts) for parts in zip(*drawn, strict=True))
    # a fixed seed: another --seed must not move test samples into the training data
    split = torch.Generator().manual_seed(0)
    return random_split(TensorDataset(images, masks), [0.8, 0.1, 0.1], generator=split)


def draw_shapes(size: int, rng: Random) -> tuple[Tensor, Tensor]:
    """One to three shapes of any color on noise, and the class of each pixel."""
    noise = bytes(rng.randrange(100) for _ in range(3 * size * size))
    image, mask = Image.frombytes("RGB", (size, size), noise), Image.new("L", (size, size))
    for _ in range(rng.randint(1, 3)):
        label = rng.randrange(1, len(CLASSES))
        radius = rng.uniform(0.15, 0.3) * size
        x, y = (rng.uniform(radius, size - radius) for _ in range(2))
        color = tuple(rng.randrange(130, 256) for _ in range(3))
        sides, start = {1: (40, 0.0), 2: (4, pi / 4), 3: (3, pi / 6)}[label]
        angles = [start + 2 * pi * side / sides for side in range(sides)]
        corners = [(x + radius * cos(angle), y + radius * sin(angle)) for angle in angles]
        ImageDraw.Draw(image).polygon(corners, fill=color)
        ImageDraw.Draw(mask).polygon(corners, fill=label)
    return to_tensor(image, size), torch.from_numpy(np.array(mask)).long()
