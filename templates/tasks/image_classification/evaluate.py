import torch
from torch.utils.data import random_split

from data import class_names, list_rows
from lib.splits import find_shares, split_by_class

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
        shares = find_shares(files[1:], config)
        first = list_rows(files[0], config)
        #: region divide
        rng = torch.Generator().manual_seed(0)
        lines = random_split(first, [1 - sum(shares), *shares], generator=rng)[part]
        #: end divide
    return {name: [str(line.get(name)) for line in lines] for name in lines[0]}

#: slot table when dataset=csv
for name, values in read_columns(config, given.split).items():
    table.setdefault(name, values[: len(columns["loss"])])

#: replace divide when dataset=csv labels=one
labels = [str(line[config.label_column]) for line in first]
lines = [first[number] for number in split_by_class(labels, shares)[part]]
