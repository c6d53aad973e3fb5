import torch
import train
from columns import Columns
from data import build_datasets, fit_columns, split_table
from helpers import SETTINGS, run

#: slot tests
def test_columns_are_saved_with_the_weights(tmp_path):
    """They turn rows of the file into model inputs."""
    run(tmp_path, epochs=1)
    config = train.Config(**SETTINGS)
    columns = Columns.load(tmp_path)
    assert columns == fit_columns(config)
    for table, part in zip(split_table(config), build_datasets(config), strict=True):
        assert torch.equal(columns.transform(table), part[:][0])
