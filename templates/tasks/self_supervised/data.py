import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import Subset
from torchvision.transforms import v2

from lib.image_folders import LabelledFiles, find_classes
from accelerate import PartialState

#: slot datasets
class Drawn(Dataset):
    """Images, each with {{ task.drawn }}: {{ task.newly_drawn }} in each epoch.

    They depend only on the seed, the epoch and the index of an image, so they are the same in a
    resumed run, with any number of data workers, and on any number of processes.
    """

    def __init__(self, images: Dataset, config) -> None:
        self.images, self.config, self.epoch = images, config, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch
        #: slot set_epoch

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        #: region image
        image, _ = self.images[index]
        #: end image
        return image, draw(image, self.config, self.find_seed(index))

    def find_seed(self, index: int) -> int:
        return hash((self.config.seed, self.epoch, index))

#: slot before_loaders
#: region evaluated
val_set, test_set = Fixed(val_set, config), Fixed(test_set, config)
#: end evaluated
train_set = Drawn(train_set, config)

#: slot datasets when method=simclr
def draw(image: Tensor, config, seed: int) -> Tensor:
    """Two random views of an image, shape (2, channels, size, size)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([change(image, generator) for _ in range(2)])

#: slot before_loaders when method=simclr
if min(len(val_set), len(test_set)) < 2:
    PartialState().print("a split of one image has the loss 0: there is no other image to compare it with")

#: slot datasets when method=mae
def draw(image: Tensor, config, seed: int) -> Tensor:
    """Random indices of the patches of an image that the model sees, shape (seen,)."""
    patches = (image.shape[-1] // config.patch_size) ** 2
    order = torch.randperm(patches, generator=torch.Generator().manual_seed(seed))
    seen = round((1 - config.mask_ratio) * patches)
    return order[: min(max(1, seen), patches - 1)]  # some, but not all

#: slot datasets when probe=classes
class Probed(Dataset):
    """The images of a set, evenly mixed with the training images whose classes the probes know.

    A sample is an image, {{ task.drawn }}, its class, and whether it is known.
    """

    def __init__(self, new: Dataset, known: Dataset, config) -> None:
        self.parts, self.config = (new, known), config
        # a new image comes first, and any number of batches has about the same share of both
        self.order = sorted(
            (row / len(part), is_known, row)
            for is_known, part in zip((False, True), self.parts, strict=True)
            for row in range(len(part))
        )

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor, Tensor | int, bool]:
        _, is_known, row = self.order[index]
        image, label = self.parts[is_known][row]
        return image, draw(image, self.config, row), label, is_known


def split_known(train_set: Dataset, config) -> tuple[Dataset, Dataset]:
    """Training images whose classes the probes know, and the other images: the same in each run."""
    # a fixed seed: the labeled images are the same for any --seed
    order = torch.randperm(len(train_set), generator=torch.Generator().manual_seed(0)).tolist()
    return Subset(train_set, order[: config.known]), Subset(train_set, order[config.known :])

#: replace evaluated when probe=classes
#: region known
known, _ = split_known(train_set, config)
#: end known
val_set, test_set = Probed(val_set, known, config), Probed(test_set, known, config)

#: slot datasets when probe=none
class Fixed(Drawn):
    """For evaluation: {{ task.drawn }} depend only on the index of an image."""

    def find_seed(self, index: int) -> int:
        return index

#: slot datasets when views=turned
def change(image: Tensor, generator: torch.Generator) -> Tensor:
    """An image randomly rotated, sheared, scaled, shifted, and brighter or darker."""
    numbers = 2 * torch.rand(7, generator=generator) - 1  # from -1 to 1
    linear = torch.eye(2) + 0.3 * numbers[:4].reshape(2, 2)
    shift = 0.25 * numbers[4:6].reshape(2, 1)
    matrix = torch.cat([linear, shift], dim=1).unsqueeze(0)
    places = F.affine_grid(matrix, [1, *image.shape], align_corners=False)
    changed = F.grid_sample(image.unsqueeze(0), places, align_corners=False)[0]
    return changed * (1 + 0.3 * numbers[6])

#: slot datasets when views=photos
def change(image: Tensor, generator: torch.Generator) -> Tensor:
    """A random crop of an image, randomly flipped, with color jitter or grayscale, and blurred.

    Chen and others 2020, https://arxiv.org/abs/2002.05709, appendix A
    """
    size = image.shape[-1]
    colors = v2.ColorJitter(brightness=0.8, contrast=0.8, saturation=0.8, hue=0.2)
    blur = v2.GaussianBlur(size // 20 * 2 + 1, sigma=(0.1, 2.0))
    transform = v2.Compose(
        [
            v2.RandomResizedCrop(size, scale=(0.08, 1.0)),
            v2.RandomHorizontalFlip(),
            v2.RandomApply([colors], p=0.8),
            v2.RandomGrayscale(p=0.2),
            v2.RandomApply([blur], p=0.5),
        ]
    )
    with torch.random.fork_rng(devices=[]):  # torchvision uses the global generator
        torch.set_rng_state(generator.get_state())
        changed = transform(image)
        generator.set_state(torch.get_rng_state())  # the next view differs
    return changed

#: slot set_epoch with augmentation
if hasattr(self.images, "set_epoch"):  # the augmentation changes, too
    self.images.set_epoch(epoch)

#: replace known when probe=classes with augmentation
known, _ = split_known(train_set.data, config)  # as they are

#: replace train_set when probe=classes with evaluation_sets
known, others = split_known(build_datasets(config)[0], config)
train_set = Probed(others, known, config)

#: replace train_set when probe=none with evaluation_sets
train_set = Fixed(build_datasets(config)[0], config)

#: replace image when probe=none dataset=image_folder
image = self.images[index]

#: replace parts when probe=classes dataset=image_folder
classes = find_classes(paths)
parts = {name: LabelledFiles(paths[name], config.image_size, classes) for name in paths}
