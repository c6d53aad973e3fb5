"""What the benchmarks compare trains alike: a run of each, untimed."""

import json
import sys

import pytest

from support.paths import TESTS
from support.training import run_python, succeed

BENCHMARKS = TESTS / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import report  # noqa: E402

# packages of the extra `benchmarks`
NEED_MORE = {
    "Fabric": "lightning",
    "Ignite": "ignite",
    "pytorch-accelerated": "pytorch_accelerated",
    "Lightning": "lightning",
}
# in a process of its own: those libraries change much of the one that they are in
RUN = """
import json, sys
from dataclasses import asdict
from steps import run_all_options

found = run_all_options(sys.argv[1])
print(json.dumps({option: asdict(run) for option, run in found.items()}))
"""
HERE = ["scaffold", "Accelerate's examples", "HF Trainer"]
QUICK = HERE[:1]  # in every run


@pytest.mark.train
@pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(n, marks=pytest.mark.sweep) for n in (*HERE[1:], *NEED_MORE))]
)
def test_every_contender_ends_with_the_loss_of_the_bare_loop(name: str) -> None:
    if name in NEED_MORE:
        pytest.importorskip(NEED_MORE[name], reason="pip install '.[benchmarks]' for this one")
    from cases import MODELS, OPTIONS, Case
    from steps import CONTENDERS, LACKS, Found, agree

    assert set(CONTENDERS) == {*HERE, *NEED_MORE}
    result = succeed(run_python(BENCHMARKS, ["-c", RUN, name], timeout=600))
    runs = json.loads(result.stdout.splitlines()[-1])
    losses = []
    for option in OPTIONS:
        if (name, option) in LACKS:
            continue
        found = Found(**runs.pop(option))
        assert found.ratio > 0 and agree(found, Case(MODELS[0], option)), (option, found)
        losses.append(found.loss)
    assert not runs
    assert len(losses) >= len(OPTIONS) - 1
    assert len(set(losses)) >= 4, "options change nothing"  # logging and EMA alone do not


def test_the_tables_show_the_results() -> None:
    results = json.loads((BENCHMARKS / "results.json").read_text())
    assert report.TABLES.read_text() == report.all_tables(results)
    assert report.BEGIN + report.readme_part(results) + report.END in report.README.read_text()
    assert len(results["steps"]) == 18 and report.PICTURE.exists()
    for row in results["steps"]:
        assert len(row["ratios"]) >= 6, row
