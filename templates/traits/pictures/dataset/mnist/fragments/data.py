from accelerate import PartialState
from torch.utils.data import TensorDataset
from torchvision.datasets import MNIST

#: slot build_datasets
SIZE = 28  # pixels, both ways


def build_datasets(config) -> list[Dataset]:
    """MNIST, downloaded to data/: 50,000, 10,000 and 10,000 handwritten digits."""
    with PartialState().local_main_process_first():  # the other processes reuse the download
        parts = [MNIST("data", train=train, download=True) for train in (True, False)]
    train_set, test_set = (
        TensorDataset(part.data.unsqueeze(1) / 255, part.targets) for part in parts
    )
    # a fixed seed: another --seed must not move validation samples into the training data
    rng = torch.Generator().manual_seed(0)
    return [*random_split(train_set, [5 / 6, 1 / 6], generator=rng), test_set]
