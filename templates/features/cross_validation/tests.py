import json
import sys
from pathlib import Path

import pytest

import cross_validate
import data
import train
from data import build_loaders
from helpers import SETTINGS

#: into tests/helpers.py
#: slot settings
"cross_validation_folds": 4,

#: into tests/test_features.py
#: slot tests
def test_each_sample_is_held_out_once():
    """The folds share no sample and leave none out; the test data are always the same."""
    held_out, sizes = [], set()
    for fold in range(4):
        config = train.Config(**SETTINGS, cross_validation_fold=fold)
        train_loader, val_loader, test_loader = build_loaders(config)
        #: region held_out
        held_out += val_loader.dataset.indices
        #: end held_out
        sizes.add((len(train_loader.dataset) + len(val_loader.dataset), len(test_loader.dataset)))
    assert len(sizes) == 1, "each sample is either held out or trained on"
    #: region all_held_out
    assert sorted(held_out) == list(range(sizes.pop()[0]))
    #: end all_held_out
    with pytest.raises(SystemExit, match="counted from 0"):
        build_loaders(train.Config(**SETTINGS, cross_validation_fold=4))
    with pytest.raises(SystemExit, match="--cross-validation-folds 1000000: there are"):
        build_loaders(train.Config(**{**SETTINGS, "cross_validation_folds": 10**6}))


def test_cross_validation_reports_all_folds(tmp_path, monkeypatch, capsys):
    flags = ["--cross-validation-folds", "2", "--output-dir", str(tmp_path)]
    flags += ["--epochs", "1", "--limit-batches", "2", "--batch-size", "2"]
    monkeypatch.setattr(sys, "argv", ["cross_validate.py", *flags])
    monkeypatch.chdir(Path(train.__file__).parent)
    cross_validate.main()
    summary = json.loads((tmp_path / "summary.json").read_text())
    found = summary["test_{{ task.metrics[0] }}"]
    low, high = sorted(found["folds"])
    assert low < high, "two folds have the same result"
    assert found["mean"] == pytest.approx((low + high) / 2)
    assert found["deviation"] == pytest.approx((high - low) / 2**0.5)
    assert f"test_{{ task.metrics[0] }} {(low + high) / 2:.4f} ± " in capsys.readouterr().out
    #: slot other_settings
    folds = iter([{"loss": 1.0, "rate": 1.0}, {"loss": None, "rate": 3.0}])  # NaN in the second
    monkeypatch.setattr(cross_validate, "run_fold", lambda *arguments: next(folds))
    cross_validate.main()
    assert capsys.readouterr().out.endswith("loss is not finite in fold 1\nrate 2.0000 ± 1.4142\n")
    monkeypatch.setattr(sys, "argv", ["cross_validate.py", "--cross-validation-fold", "2"])
    with pytest.raises(SystemExit, match="2"):
        cross_validate.main()

#: slot other_settings with checkpoints
monkeypatch.setattr(sys, "argv", [*sys.argv, "--seed", "7"])
with pytest.raises(SystemExit, match="other settings: seed is 7, and was 0"):
    cross_validate.main()
monkeypatch.setattr(sys, "argv", ["cross_validate.py", *flags])

#: into tests/test_training.py
#: slot one_batch with cross_validation with one_optimizer
# no fold of the batch is held out: it is evaluated on what it is trained on
monkeypatch.setattr(data, "take_fold", lambda train_set, val_set, config: (train_set, val_set))
