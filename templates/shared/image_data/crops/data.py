#: when project.task=autoencoder|diffusion|gan|image_classification|self_supervised dataset=image_folder|huggingface|csv with augmentation
from functools import partial

from torchvision.transforms import v2

from lib.samples import with_transform

#: replace augmented_data when features.augmentation.kind=photo|randaugment|trivialaugment
self.data, self.config, self.epoch = with_transform(data, build_change(config)), config, 0

#: replace augmented_sample when features.augmentation.kind=photo|randaugment|trivialaugment
with torch.random.fork_rng(devices=[]):  # torchvision uses the global generator
    torch.default_generator.manual_seed(seed)
    return self.data[index]

#: replace photo when features.augmentation.kind=photo
def build_change(config) -> v2.Compose:
    """A random crop of a picture, scaled, randomly flipped, with changed colors."""
    return v2.Compose(
        [
            partial(decode, size=config.image_size),
            v2.RandomResizedCrop(config.image_size),
            v2.RandomHorizontalFlip(),
            v2.ColorJitter(brightness=0.3, contrast=0.3, saturation=0.3),
            to_tensor,
        ]
    )

#: replace randaugment when features.augmentation.kind=randaugment
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

#: replace trivialaugment when features.augmentation.kind=trivialaugment
def build_change(config) -> v2.Compose:
    """A random crop of a picture, scaled, randomly flipped, and changed by TrivialAugment."""
    return v2.Compose(
        [
            partial(decode, size=config.image_size),
            v2.RandomResizedCrop(config.image_size),
            v2.RandomHorizontalFlip(),
            v2.TrivialAugmentWide(),
            to_tensor,
        ]
    )
