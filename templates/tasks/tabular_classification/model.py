from pathlib import Path

from columns import Columns
from data import fit_columns

#: slot build_model
def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    #: region classes
    rows, labels = build_datasets(config)[0][:]
    classes = len(labels.unique())
    #: end classes
    return Mlp(rows, classes)

#: replace classes when path=given
#: region rows
rows, _ = build_datasets(config)[0][:]
classes = len(fit_columns(config).classes)
#: end rows

#: replace rows when path=given with predict
if not Path(config.path).exists():  # the run was moved: its weights have the rest
    columns = Columns.load(config.output_dir)
    return Mlp(torch.zeros(2, len(columns.names)), len(columns.classes))
rows, _ = build_datasets(config)[0][:]
classes = len(fit_columns(config).classes)
