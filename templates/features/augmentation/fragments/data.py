import torch
from torch import Tensor
from torch.utils.data import Dataset

#: slot datasets
class Augmented(Dataset):
    """Training images with random changes, different ones in each epoch.

    The changes depend only on the seed, the epoch and the index of the image. So they are the
    same in a resumed run, with any number of data workers, and on any number of processes.
    """

    def __init__(self, data, config) -> None:
        #: region augmented_data
        self.data, self.config, self.epoch = data, config, 0
        #: end augmented_data

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int):
        seed = hash((self.config.seed, self.epoch, index))
        #: region augmented_sample
        generator = torch.Generator().manual_seed(seed)
        sample = self.data[index]
        if isinstance(sample, Tensor):  # an image without a label
            return augment(sample, self.config, generator)
        image, *others = sample
        return augment(image, self.config, generator), *others
        #: end augmented_sample

#: slot after_datasets
train_set = Augmented(train_set, config)
