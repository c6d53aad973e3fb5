import json
from helpers import run

#: slot tests
def test_metrics_file_has_each_log_line(tmp_path):
    run(tmp_path, epochs=1)
    lines = map(json.loads, (tmp_path / "metrics.jsonl").read_text().splitlines())
    found = [(line["step"], "lr" in line) for line in lines if "loss" in line]
    assert found == [(step, True) for step in range(1, 7)]
