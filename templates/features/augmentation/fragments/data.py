import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import Dataset

#: slot datasets
class Shifted(Dataset):
    """Images moved by up to one pixel, by chance.

    What is drawn follows from the seed, the epoch and the index of the image alone: it is the
    same after a resume, with any number of data workers, and on any number of processes.
    """

    def __init__(self, data: Dataset, seed: int) -> None:
        self.data, self.seed, self.epoch = data, seed, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        image, label = self.data[index]
        generator = torch.Generator().manual_seed(hash((self.seed, self.epoch, index)))
        down, right = torch.randint(0, 3, (2,), generator=generator).tolist()
        height, width = image.shape[-2:]
        padded = F.pad(image, (1, 1, 1, 1))
        return padded[..., down : down + height, right : right + width], label

#: slot after_datasets
train_set = Shifted(train_set, torch.initial_seed())  # that of set_seed
