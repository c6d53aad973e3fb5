from pathlib import Path

from columns import Columns

#: slot saved_columns
if not Path(config.path).exists():  # the run was moved: its weights have the rest
    columns = Columns.load(config.output_dir)
    return Regressor(torch.zeros(2, len(columns.names)), torch.zeros(2))
