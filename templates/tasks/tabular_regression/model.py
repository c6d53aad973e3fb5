from columns import Columns

#: slot build_model
class Regressor(nn.Module):
    """Predictions of shape (batch,) in the unit of the targets."""

    def __init__(self, rows: Tensor, targets: Tensor) -> None:
        super().__init__()
        self.mlp = Mlp(rows, outputs=1)
        self.scale = Standardize(targets)

    def forward(self, rows: Tensor) -> Tensor:
        # mixed precision has too few digits for large targets
        outputs = self.mlp(rows).squeeze(1).float()
        return outputs * self.scale.std + self.scale.mean


def build_model(
    config
    #: slot parameters
) -> nn.Module:
    """The model, before it is prepared."""
    #: slot saved_columns
    return Regressor(*build_datasets(config)[0][:])

#: slot parameters when path=given with predict
, columns: Columns | None = None

#: slot saved_columns when path=given with predict
if columns:  # those of a run, so that no data is needed: the weights have the rest
    return Regressor(torch.zeros(2, len(columns.names)), torch.zeros(2))
