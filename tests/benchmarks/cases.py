"""What is trained: three classifiers, each with nothing or one thing more in its loop."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

LEARNING_RATE, WEIGHT_DECAY = 1e-3, 0.01  # of AdamW, everywhere
MAX_NORM, EMA_DECAY, ACCUMULATED, LOG_EVERY = 0.1, 0.99, 4, 10


@dataclass(frozen=True)
class Model:
    """A size of model, and of the batches that go with it."""

    name: str
    inputs: tuple[int, ...]  # shape of a sample
    batch_size: int
    steps: int  # of one run, without accumulation
    block: int  # batches that are timed together

    def build(self) -> nn.Module:
        """The model with the same weights each time; its outputs have shape (batch, 10)."""
        torch.manual_seed(0)
        return {"tiny MLP": build_mlp, "small CNN": build_cnn, "small transformer": Encoder}[
            self.name
        ]()


MODELS = [
    Model("tiny MLP", (64,), 32, 240, 20),
    Model("small CNN", (3, 32, 32), 16, 40, 5),
    Model("small transformer", (32, 128), 8, 30, 5),
]
OPTIONS = ["plain", "accumulation", "clipping", "bf16", "EMA", "logging"]


@dataclass(frozen=True)
class Case:
    """One row of the table: a model, and what its loop does besides training it."""

    model: Model
    option: str

    @property
    def accumulated(self) -> int:
        """Batches that make a step."""
        return ACCUMULATED if self.option == "accumulation" else 1

    @property
    def clips(self) -> bool:
        return self.option == "clipping"

    @property
    def bf16(self) -> bool:
        return self.option == "bf16"

    @property
    def ema(self) -> bool:
        return self.option == "EMA"

    @property
    def logs(self) -> bool:
        """Whether the loss is read and printed every LOG_EVERY steps."""
        return self.option == "logging"

    @property
    def steps(self) -> int:
        return self.model.steps // self.accumulated

    @property
    def block(self) -> int:
        """Updates that are timed together."""
        return max(1, self.model.block // self.accumulated)

    def dataset(self, epochs: int = 1) -> TensorDataset:
        """Samples of a run, or of several: inputs, and the numbers of their classes."""
        generator = torch.Generator().manual_seed(1)
        samples = epochs * self.steps * self.accumulated * self.model.batch_size
        inputs = torch.randn(samples, *self.model.inputs, generator=generator)
        return TensorDataset(inputs, torch.randint(10, (samples,), generator=generator))

    def loader(self, dataset: TensorDataset) -> DataLoader[tuple[Tensor, ...]]:
        """The batches, in the order of the data: every contender sees the same."""
        return DataLoader(dataset, self.model.batch_size, drop_last=True)


def build_mlp() -> nn.Module:
    return nn.Sequential(
        nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)
    )


def build_cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64 * 8 * 8, 10),
    )


class Encoder(nn.Module):
    """Four layers of a transformer without dropout, whose outputs are averaged over positions."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 4)
        self.head = nn.Linear(128, 10)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.head(self.layers(inputs).mean(dim=1))
