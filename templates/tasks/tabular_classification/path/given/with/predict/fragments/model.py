from pathlib import Path

from columns import Columns

#: replace rows
if not Path(config.path).exists():  # the run was moved: its weights have the rest
    columns = Columns.load(config.output_dir)
    return Mlp(torch.zeros(2, len(columns.names)), len(columns.classes))
rows, _ = build_datasets(config)[0][:]
classes = len(fit_columns(config).classes)
