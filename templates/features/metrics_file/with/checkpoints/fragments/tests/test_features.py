import json
from helpers import run
from test_resume import last_checkpoint

#: slot tests
def test_metrics_of_a_run_resumed_in_another_folder(tmp_path):
    first = last_checkpoint(run(tmp_path / "one", epochs=1))
    run(tmp_path / "two", epochs=2, resume=str(first))
    lines = (tmp_path / "two" / "metrics.jsonl").read_text().splitlines()
    steps = [json.loads(line)["step"] for line in lines]
    assert steps and min(steps) > 6, "the file has what came after the checkpoint"


def test_metrics_are_replaced_after_an_earlier_checkpoint(tmp_path):
    first = last_checkpoint(run(tmp_path, epochs=1, keep_checkpoints=0))
    run(tmp_path, epochs=2, resume=str(first))
    lines = (tmp_path / "metrics.jsonl").read_bytes()
    run(tmp_path, epochs=2, resume=str(first))
    assert (tmp_path / "metrics.jsonl").read_bytes() == lines
