import csv
import json
import sys

import compare
from helpers import run

#: slot tests
def test_runs_are_compared(tmp_path, monkeypatch, capsys):
    """It shows what differs and the metrics of both runs, and reports broken files."""
    for seed in (1, 2):
        run(tmp_path / f"seed{seed}", epochs=1, max_steps=2, seed=seed)
    with (tmp_path / "seed2" / "metrics.jsonl").open("a") as file:
        file.write('{"step": 3, "los')
    broken = tmp_path / "broken" / "config.json"
    broken.parent.mkdir()
    broken.write_text('{"settings":')
    table, picture = tmp_path / "runs.csv", tmp_path / "curves.png"
    flags = [str(tmp_path), "--sort", "test_{{ task.metrics[0] }}", "--output", str(table), "--plot", str(picture)]
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["compare.py", *flags])
    compare.main()
    printed = capsys.readouterr()
    assert f"{broken} can't be read" in printed.err
    assert "metrics.jsonl, line" in printed.err
    names = printed.out.splitlines()[0].split()
    assert {"seed", "test_{{ task.metrics[0] }}"} < set(names)
    assert not {"epochs", "output_dir"} & set(names), "a column that is the same in all runs"
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert sorted(row["seed"] for row in rows) == ["1", "2"]
    first, second = (float(row["best test_{{ task.metrics[0] }}"]) for row in rows)
    assert first <= second, "the best run comes first"
    for row in rows:
        assert (row["state"], row["step"]) == ("finished", "2")
        lines = (tmp_path / f"seed{row['seed']}" / "metrics.jsonl").read_text().splitlines()
        test = next(line for line in map(json.loads, lines) if "test_{{ task.metrics[0] }}" in line)
        assert float(row["test_{{ task.metrics[0] }}"]) == test["test_{{ task.metrics[0] }}"]
    assert picture.read_bytes().startswith(b"\x89PNG")
