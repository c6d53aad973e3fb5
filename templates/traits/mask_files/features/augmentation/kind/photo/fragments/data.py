from copy import copy

from torch.utils.data import ConcatDataset, Subset
from torchvision import tv_tensors
from torchvision.transforms import v2

#: replace augmented_data
self.data, self.config, self.epoch = with_transform(data, keep), config, 0

#: slot datasets
def augment(image, mask, config, generator) -> tuple[Tensor, Tensor]:
    """A random crop of the picture and its mask, flipped half of the time; changed colors.

    The mask is scaled without interpolation, so its pixels keep their classes, or VOID.
    """
    change = v2.Compose(
        [
            v2.RandomResizedCrop(config.image_size, scale=(0.3, 1.0)),
            v2.RandomHorizontalFlip(),
            v2.ColorJitter(brightness=0.3, contrast=0.3, saturation=0.3),
        ]
    )
    with torch.random.fork_rng(devices=[]):  # torchvision uses the global generator
        torch.set_rng_state(generator.get_state())
        image, mask = change(image, tv_tensors.Mask(np.array(mask, np.uint8)))
    return to_tensor(image, config.image_size), mask.as_subclass(Tensor).long()


def keep(image: Image.Image, mask: Image.Image) -> tuple[Image.Image, Image.Image]:
    """The pictures as on disk: their crops have more detail than crops of resized pictures."""
    return image, mask


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
