#: file
"""The data: {{ task.images }}, from 0 to {{ task.white }}, and {{ task.labelled }}."""

import torch
from torch.utils.data import Dataset

#: slot load_splits


#: slot row_readers


#: slot build_datasets


#: slot datasets


#: slot build_loaders
#: end file

import torch.nn.functional as F
from accelerate import PartialState
from sklearn.datasets import load_digits
from torch import Tensor
from torch.utils.data import TensorDataset, random_split
from torchvision.datasets import MNIST

#: slot build_datasets when dataset=digits
def build_datasets(config) -> list[Dataset]:
    """1797 handwritten digits, split into training, validation and test data."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    return random_split(TensorDataset(images, labels), [0.8, 0.1, 0.1], generator=rng)

#: slot build_datasets when dataset=mnist
def build_datasets(config) -> list[Dataset]:
    """MNIST's 60,000 training images, split into training, validation and test data."""
    with PartialState().local_main_process_first():  # the other processes reuse the download
        mnist = MNIST("data", download=True)
    images = mnist.data.unsqueeze(1) / 255
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    data = TensorDataset(images, mnist.targets)
    return random_split(data, [50_000, 5_000, 5_000], generator=rng)

#: slot build_datasets when dataset=scenes
def build_datasets(config) -> list[Dataset]:
    """Scenes of up to four handwritten digits, for training, validation and test data."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32) / 16
    labels = torch.tensor(digits.target)
    # a fixed seed: all runs have the same scenes, for any --seed
    rng = torch.Generator().manual_seed(0)
    parts = random_split(range(len(images)), [0.8, 0.1, 0.1], generator=rng)
    indices = [torch.tensor(list(part)) for part in parts]  # no digit image is in two splits
    sizes = (3200, 400, 400)
    return [
        build_scenes(images[part], labels[part], size, rng)
        for part, size in zip(indices, sizes, strict=True)
    ]


def build_scenes(images: Tensor, labels: Tensor, size: int, rng: torch.Generator) -> TensorDataset:
    """Images with a digit or nothing in each quarter, shape (size, 1, 16, 16), and {{ task.reviewed }}."""
    chosen = torch.randint(len(images), (size, 4), generator=rng)
    shown = torch.rand(size, 4, generator=rng) < 0.6
    quarters = images[chosen] * shown[:, :, None, None]
    scenes = quarters.view(size, 2, 2, 8, 8).transpose(2, 3).reshape(size, 1, 16, 16)
    ...  #: slot scene_targets
    return TensorDataset(scenes, targets)

#: slot scene_targets when dataset=scenes labels=many
targets = (F.one_hot(labels[chosen], 10) * shown[:, :, None]).amax(dim=1).float()

#: slot build_datasets when dataset=scenes labels=many
def class_names(config) -> list[str]:
    """The names of the labels, in the order of the model's outputs."""
    return [str(digit) for digit in range(10)]

#: slot scene_targets when dataset=scenes labels=number
targets = (labels[chosen] * shown).sum(dim=1).float()

#: slot build_datasets when dataset=scenes labels=number
def read_targets(config) -> Tensor:
    """The numbers of the training data."""
    return torch.stack([target for _, target in build_datasets(config)[0]])
