import torch
from torch.utils.data import Dataset

#: slot datasets
class Augmented(Dataset):
    """Training images and targets with random changes, which differ in each epoch.

    The changes depend only on the seed, the epoch and the index of the image, so they are the
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
        image, target = self.data[index]
        seed = hash((self.config.seed, self.epoch, index))
        return augment(image, target, self.config, torch.Generator().manual_seed(seed))

#: slot after_datasets
train_set = Augmented(train_set, config)
