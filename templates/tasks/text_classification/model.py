from torch import Tensor
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedConfig

from data import class_names, fit_scale

#: slot outputs when labels=many
problem_type="multi_label_classification",  # a pipeline of transformers shows all labels

#: slot functions when labels=number
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

#: replace signature with predict
def build_model(config, saved=None) -> nn.Module:

#: slot saved with predict
if saved:  # written at the end of a run, so that no data is needed
    return AutoModelForSequenceClassification.from_config(AutoConfig.from_pretrained(saved))
