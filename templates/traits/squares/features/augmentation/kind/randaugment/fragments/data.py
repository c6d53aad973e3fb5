from copy import copy
from functools import partial

from torch.utils.data import ConcatDataset, Subset
from torchvision.transforms import v2

#: replace augmented_data
self.data, self.config, self.epoch = with_transform(data, build_change(config)), config, 0

#: replace augmented_sample
with torch.random.fork_rng(devices=[]):  # torchvision uses the global generator
    torch.default_generator.manual_seed(seed)
    return self.data[index]

#: slot datasets
def build_change(config) -> v2.Compose:
    """A random crop of a picture, scaled, randomly flipped, and changed by RandAugment."""
    return v2.Compose(
        [
            partial(decode, size=config.image_size),
            v2.RandomResizedCrop(config.image_size),
            v2.RandomHorizontalFlip(),
            v2.RandAugment(),
            to_tensor,
        ]
    )


def with_transform(data: Dataset, transform) -> Dataset:
    """A copy of the data with another transform. The original keeps its own."""
    data = copy(data)
    if isinstance(data, Subset):
        data.dataset = with_transform(data.dataset, transform)
    elif isinstance(data, ConcatDataset):
        data.datasets = [with_transform(part, transform) for part in data.datasets]
    elif hasattr(data, "transform"):
        data.transform = transform
    else:
        raise TypeError(f"{type(data).__name__} has no attribute `transform` to replace.")
    return data
