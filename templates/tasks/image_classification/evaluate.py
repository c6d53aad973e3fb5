import torch
from torch.utils.data import random_split

from data import class_names, list_rows

#: replace names when dataset=image_folder|huggingface
names = class_names(config)

#: replace names when dataset=csv labels=one
names = class_names(config)

#: slot functions when dataset=csv
def read_columns(config: Config, split: str) -> dict[str, list[str]]:
    """All columns of the files of the data, for the rows of a split."""
    files, part = [config.table, config.val_table, config.test_table], SPLITS.index(split)
    if part and files[part]:
        lines = list_rows(files[part], config)
    else:  # a share of the first file, as in data.py
        shares = [0.0 if file else 0.1 for file in files[1:]]
        rng = torch.Generator().manual_seed(0)
        first = list_rows(files[0], config)
        lines = random_split(first, [1 - sum(shares), *shares], generator=rng)[part]
    return {name: [str(line.get(name)) for line in lines] for name in lines[0]}

#: slot table when dataset=csv
for name, values in read_columns(config, given.split).items():
    table.setdefault(name, values[: len(columns["loss"])])
