from data import read_targets
from torch import Tensor

#: slot model
class Regressor(nn.Module):
    """Predictions of shape (batch,) in the unit of the targets, by a network with one output."""

    def __init__(self, network: nn.Module, targets: Tensor) -> None:
        super().__init__()
        self.network = network
        self.scale = Standardize(targets)

    def forward(self, images: Tensor) -> Tensor:
        # mixed precision has too few digits for large targets
        outputs = self.network(images).squeeze(1).float()
        return outputs * self.scale.std + self.scale.mean

#: replace build
def build_network(config) -> nn.Module:
    """A network whose output is a standardized number, shape (batch, 1)."""
    ...  #: slot build_model


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    return Regressor(build_network(config), read_targets(config))
