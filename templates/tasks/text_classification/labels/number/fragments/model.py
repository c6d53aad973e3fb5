from data import fit_scale
from torch import Tensor
from transformers import PreTrainedConfig

#: slot functions
class Scale(nn.Module):
    """Standardizes values with the mean and standard deviation of the training targets.

    Both are in the configuration of the model, so they are saved with it.
    """

    def __init__(self, settings: PreTrainedConfig) -> None:
        super().__init__()
        self.mean, self.std = settings.target_mean, settings.target_std

    def forward(self, numbers: Tensor) -> Tensor:
        return (numbers - self.mean) / self.std

    def restore(self, outputs: Tensor) -> Tensor:
        """The numbers, shape (batch,), for outputs of the model, shape (batch, 1)."""
        return outputs.squeeze(1) * self.std + self.mean
