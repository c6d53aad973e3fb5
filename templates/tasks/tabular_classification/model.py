from columns import Columns
from data import fit_columns

#: slot build_model
def build_model(
    config
    #: slot parameters
) -> nn.Module:
    """The model, before it is prepared."""
    #: slot saved_columns
    #: region classes
    rows, labels = build_datasets(config)[0][:]
    classes = len(labels.unique())
    #: end classes
    return Mlp(rows, classes)

#: replace classes when path=given
rows, _ = build_datasets(config)[0][:]
classes = len(fit_columns(config).classes)

#: slot parameters when path=given with predict
, columns: Columns | None = None

#: slot saved_columns when path=given with predict
if columns:  # those of a run, so that no data is needed: the weights have the rest
    return Mlp(torch.zeros(2, len(columns.names)), len(columns.classes))
