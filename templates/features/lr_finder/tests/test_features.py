import json

import pytest

import lr_finder
import train
from helpers import SETTINGS, enough_data

#: slot tests
def test_a_learning_rate_is_found(tmp_path, monkeypatch, capsys):
    """Where the loss falls; and nothing of a run is written."""
    monkeypatch.setattr(lr_finder, "STEPS", 8)
    monkeypatch.setattr(train, "build_optimizer", train.build_optimizer)
    config = train.Config(output_dir=tmp_path, **SETTINGS)
    with enough_data():
        rate = lr_finder.find_rate(config)
    assert lr_finder.LOWEST <= rate <= lr_finder.HIGHEST
    assert f"suggested: --learning-rate {rate:.2g}" in capsys.readouterr().out
    lines = (tmp_path / "lr_finder" / "metrics.jsonl").read_text().splitlines()
    assert len([line for line in map(json.loads, lines) if "lr" in line]) == 8
    assert (tmp_path / "lr_finder" / "lr_finder.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["lr_finder"]

    def fail(config):
        raise SystemExit("no data")

    monkeypatch.setattr(train, "main", fail)  # the earlier search must not be its result
    with pytest.raises(SystemExit, match="no data"):
        lr_finder.find_rate(config)


def test_the_loss_falls_fastest_where_it_is_steepest(monkeypatch):
    monkeypatch.setattr(lr_finder, "SMOOTHING", 0.0)
    monkeypatch.setattr(lr_finder, "STEPS", 10)
    means = lr_finder.smooth([2.0, 1.9, 1.2, 1.0, 1.5, 9.0, 0.1])
    assert means == [2.0, 1.9, 1.2, 1.0, 1.5, 9.0]
    assert lr_finder.suggest(means) == (1, 3)


def test_a_loss_that_hardly_falls_is_told_from_one_that_falls():
    noise = [1.0, 1.3, 0.9, 1.1, 1.2, 0.8, 1.0, 1.2, 0.9, 1.1]
    assert lr_finder.hardly_falls(noise * 3, lr_finder.smooth(noise * 3))
    falling = noise + [1 - 0.05 * step for step in range(20)]
    assert not lr_finder.hardly_falls(falling, lr_finder.smooth(falling))
