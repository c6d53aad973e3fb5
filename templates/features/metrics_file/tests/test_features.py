import json

from helpers import run
from test_resume import last_checkpoint

#: slot tests
def test_metrics_file_has_each_log_line(tmp_path):
    run(tmp_path, epochs=1)
    lines = map(json.loads, (tmp_path / "metrics.jsonl").read_text().splitlines())
    found = [(line["step"], "lr" in line) for line in lines if "loss" in line]
    assert found == [(step, True) for step in range(1, 7)]

#: slot tests with checkpoints
def test_metrics_of_a_run_resumed_in_another_folder(tmp_path):
    first = last_checkpoint(run(tmp_path / "one", epochs=1))
    run(tmp_path / "two", epochs=2, resume=str(first))
    lines = (tmp_path / "one" / "metrics.jsonl").read_text().splitlines()[:-1]  # but the test's
    resumed = (tmp_path / "two" / "metrics.jsonl").read_text().splitlines()
    assert resumed[: len(lines)] == lines and len(resumed) > len(lines) + 1
    steps = [json.loads(line)["step"] for line in resumed]
    assert steps == sorted(steps)
