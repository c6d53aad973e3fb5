from torch import Tensor

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
