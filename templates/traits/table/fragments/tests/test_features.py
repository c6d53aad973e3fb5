from data import build_datasets
from helpers import SETTINGS, run
import train
import torch
from safetensors.torch import load_file

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
