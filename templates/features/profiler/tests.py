import json
from pathlib import Path

from helpers import run

#: into tests/helpers.py
#: slot settings
"profiler_wait": 99,

#: into tests/test_features.py
#: slot tests
def test_profiler_records_its_steps(tmp_path):
    """Of 6 steps, one is skipped, one warms up, two are recorded, and two run normally."""
    run(tmp_path, epochs=1, profiler_wait=1, profiler_warmup=1, profiler_active=2)
    names = [event["name"] for event in read_trace(tmp_path)]
    steps = {name for name in names if name.startswith("ProfilerStep")}
    assert steps == {"ProfilerStep#2", "ProfilerStep#3"}
    assert any(name.startswith("Optimizer.step") for name in names)
    assert "aten::" in (tmp_path / "profile_0.txt").read_text()


def test_profiler_writes_what_a_short_run_recorded(tmp_path):
    run(tmp_path, max_steps=3, profiler_wait=1, profiler_warmup=1, profiler_active=9)
    assert read_trace(tmp_path), "nothing was recorded"


def read_trace(folder: Path) -> list[dict]:
    return json.loads((folder / "profile_0.json").read_text())["traceEvents"]

#: into tests/test_resume.py
#: slot outputs
outputs = {name for name in outputs if not name.startswith("profile")}
