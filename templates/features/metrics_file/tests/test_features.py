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


def test_metrics_of_another_branch_are_replaced(tmp_path):
    first = last_checkpoint(run(tmp_path, epochs=1, keep_checkpoints=0))
    run(tmp_path, epochs=2, resume=str(first), learning_rate=0.1)
    branch = (tmp_path / "metrics.jsonl").read_bytes()
    run(tmp_path, epochs=2, resume=str(first))
    other = (tmp_path / "metrics.jsonl").read_bytes()
    assert other != branch and read_steps(tmp_path) == sorted(read_steps(tmp_path))
    [abandoned] = tmp_path.glob("abandoned_*")
    run(abandoned, epochs=2, resume="newest")
    lines = (abandoned / "metrics.jsonl").read_bytes().splitlines()
    assert lines[:-1] == branch.splitlines()[:-1], "the last one is of the test data"


def read_steps(folder) -> list[int]:
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line)["step"] for line in lines]


def test_metrics_are_replaced_after_an_earlier_checkpoint(tmp_path):
    first = last_checkpoint(run(tmp_path, epochs=1, keep_checkpoints=0))
    run(tmp_path, epochs=2, resume=str(first))
    lines = (tmp_path / "metrics.jsonl").read_bytes()
    run(tmp_path, epochs=2, resume=str(first))
    assert (tmp_path / "metrics.jsonl").read_bytes() == lines
