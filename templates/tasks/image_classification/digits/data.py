#: when dataset=digits
from sklearn.datasets import load_digits
from torch.utils.data import TensorDataset

#: slot build_datasets
def build_datasets(config) -> list[Dataset]:
    """1797 handwritten digits, split into training, validation and test data."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    return random_split(TensorDataset(images, labels), [0.8, 0.1, 0.1], generator=rng)
