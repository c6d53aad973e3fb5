import gradio as gr
import pytest
import torch
from safetensors.torch import load_file

import train
from columns import Columns
from data import build_datasets, fit_columns, split_table
from helpers import SETTINGS, run

#: into tests/test_app.py when project.task=tabular_classification|tabular_regression
#: slot values
# the example that the page starts with
table = page.input_components[0]
values = [table.preprocess(table.data_model(**table.value))]
wrong = values[0].assign(**{values[0].columns[0]: "?"})
with pytest.raises(gr.Error, match="^.the table(,|:) row 1: "):
    page.fn(wrong)

#: into tests/test_features.py when project.task=tabular_classification|tabular_regression
#: slot tests
def test_statistics_of_the_training_part_are_saved(tmp_path):
    """The weights hold the mean and standard deviation of only the training rows."""
    run(tmp_path, epochs=1)
    config = train.Config(**SETTINGS)
    parts = [part[:][0] for part in build_datasets(config)]
    rows = parts[0]
    saved = load_file(tmp_path / "model.safetensors")
    name = next(name for name in saved if name.endswith("standardize.mean"))
    torch.testing.assert_close(saved[name], rows.mean(dim=0))
    std = rows.std(dim=0)
    torch.testing.assert_close(saved[name.replace("mean", "std")], std.where(std > 0, 1.0))
    assert not torch.allclose(saved[name], torch.cat(parts).mean(dim=0)), "of all rows"

#: slot tests when path=given
def test_columns_are_saved_with_the_weights(tmp_path):
    """They turn rows of the file into model inputs."""
    run(tmp_path, epochs=1)
    config = train.Config(**SETTINGS)
    columns = Columns.load(tmp_path)
    assert columns == fit_columns(config)
    for table, part in zip(split_table(config), build_datasets(config), strict=True):
        assert torch.equal(columns.transform(table), part[:][0])

#: replace held_out with cross_validation
# each fold has columns of its own, so rows can't be compared
held_out.append(len(val_loader.dataset))

#: replace all_held_out with cross_validation
assert sum(held_out) == sizes.pop()[0]
