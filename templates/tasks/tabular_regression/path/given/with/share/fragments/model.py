from pathlib import Path

from columns import Columns

#: slot saved_columns
if not Path(config.path).exists():  # a shared run has no data, and its weights what they need of it
    columns = Columns.load(config.output_dir)
    return Regressor(torch.zeros(2, len(columns.names)), torch.zeros(2))
