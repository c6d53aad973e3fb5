#: when dataset=mnist
from accelerate import PartialState
from torch.utils.data import TensorDataset
from torchvision.datasets import MNIST

#: slot build_datasets
def build_datasets(config) -> list[Dataset]:
    """MNIST's 60,000 training images, split into training, validation and test data."""
    with PartialState().local_main_process_first():  # the other processes reuse the download
        mnist = MNIST("data", download=True)
    images = mnist.data.unsqueeze(1) / 255
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    data = TensorDataset(images, mnist.targets)
    return random_split(data, [50_000, 5_000, 5_000], generator=rng)
