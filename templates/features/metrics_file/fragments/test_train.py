import json

#: slot after_resume
assert_same_files(whole.parent, resumed.parent, ["metrics.jsonl"])

#: slot tests
def test_metrics_of_a_run_that_goes_on_elsewhere(tmp_path):
    first = run(tmp_path / "one", epochs=1)
    run(tmp_path / "two", epochs=2, resume=str(first))
    lines = (tmp_path / "two" / "metrics.jsonl").read_text().splitlines()
    updates = [json.loads(line)["update"] for line in lines]
    assert updates and min(updates) > 6, "the file has what came after the checkpoint"


def test_metrics_are_written_anew_after_an_earlier_checkpoint(tmp_path):
    first = run(tmp_path, epochs=1)
    once = run(tmp_path, epochs=2, resume=str(first))
    lines = (tmp_path / "metrics.jsonl").read_bytes()
    again = run(tmp_path, epochs=2, resume=str(first))
    assert (tmp_path / "metrics.jsonl").read_bytes() == lines
    assert_same_files(once, again, ["states.pt"])
