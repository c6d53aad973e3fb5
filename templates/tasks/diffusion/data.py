from random import Random

from torch import Tensor

from diffusion import ANY_CLASS, draw_noise

from lib.image_folders import LabelledFiles, find_classes

#: slot datasets
class Noised(Dataset):
    """Images, each with noise of its shape and a time{{ task.and_class }}.

    Noise and time depend only on the index of an image, so all evaluations use the same.
    """

    def __init__(self, images: Dataset) -> None:
        self.images = images

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[Tensor, ...]:
        #: region sample
        image, _ = self.images[index]
        return image, *draw_noise(image.shape, self.find_seed(index))
        #: end sample

    def find_seed(self, index: int) -> int:
        return index


class NewlyNoised(Noised):
    """Training images, with new noise and a new time in each epoch.

    Both depend only on the seed, the epoch and the index of an image, so they are the same in a
    resumed run, with any number of data workers, and on any number of processes.
    """

    def __init__(self, images: Dataset, config) -> None:
        super().__init__(images)
        self.config, self.epoch = config, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch
        #: slot set_epoch

    def find_seed(self, index: int) -> int:
        return hash((self.config.seed, self.epoch, index))

    #: slot methods


def image_shape(config) -> tuple[int, int, int]:
    """Channels, height and width of an image."""
    #: region shape
    return 1, SIZE, SIZE
    #: end shape

#: slot before_loaders
train_set = NewlyNoised(train_set, config)
val_set, test_set = Noised(val_set), Noised(test_set)

#: replace sample when condition=classes
image, label = self.images[index]
return image, *draw_noise(image.shape, self.find_seed(index)), int(label)

#: slot methods when condition=classes
def __getitem__(self, index: int) -> tuple[Tensor, ...]:
    *sample, label = super().__getitem__(index)
    if Random(self.find_seed(index)).random() < self.config.any_class_rate:
        label = ANY_CLASS
    return *sample, label

#: slot set_epoch with augmentation
self.images.set_epoch(epoch)  # the augmentation changes, too

#: replace train_set with evaluation_sets
train_set = Noised(build_datasets(config)[0])

#: replace sample when condition=none dataset=image_folder
image = self.images[index]
return image, *draw_noise(image.shape, self.find_seed(index))

#: replace parts when condition=classes dataset=image_folder
classes = find_classes(paths)
check_classes(classes, config)
parts = {name: LabelledFiles(paths[name], config.image_size, classes) for name in paths}

#: slot datasets when condition=classes dataset=image_folder
def check_classes(classes: list[str], config) -> None:
    """Refuse images of more or fewer classes than the model has."""
    if len(classes) != config.classes:
        named = ", ".join(classes[:8]) + ", ..." * (len(classes) > 8)
        raise SystemExit(
            f"{config.path} has training images in {len(classes)} folders ({named}), one for each "
            f"class, and --classes is {config.classes}."
        )

#: replace shape when dataset=image_folder
return 3, config.image_size, config.image_size
