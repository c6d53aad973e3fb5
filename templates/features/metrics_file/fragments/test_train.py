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
