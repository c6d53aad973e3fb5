"""What the benchmarks compare trains alike: a run of each, untimed."""

import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import report  # noqa: E402

# packages of the extra `benchmarks`
NEED_MORE = {
    "Fabric": "lightning",
    "Ignite": "ignite",
    "pytorch-accelerated": "pytorch_accelerated",
    "Lightning": "lightning",
}
HERE = ["scaffold", "Accelerate's examples", "HF Trainer"]


@pytest.mark.train
@pytest.mark.parametrize(
    "name", [*HERE, *(pytest.param(name, marks=pytest.mark.sweep) for name in NEED_MORE)]
)
def test_every_contender_ends_with_the_loss_of_the_bare_loop(name: str) -> None:
    if name in NEED_MORE:
        pytest.importorskip(NEED_MORE[name], reason="pip install '.[benchmarks]' for this one")
    from cases import MODELS, OPTIONS, Case
    from steps import CONTENDERS, LACKS, agree, contender, on_one_core, run

    assert set(CONTENDERS) == {*HERE, *NEED_MORE}
    losses = []
    with on_one_core():
        for case in [Case(MODELS[0], option) for option in OPTIONS]:
            if (name, case.option) in LACKS:
                continue
            found = run(contender(name), case)
            assert found.ratio > 0 and agree(found.loss, found.bare_loss, case), (case, found)
            losses.append(found.loss)
    assert len(losses) >= len(OPTIONS) - 1
    assert len(set(losses)) >= 4, "options change nothing"  # logging and EMA alone do not


def test_the_tables_show_the_results() -> None:
    results = json.loads((BENCHMARKS / "results.json").read_text())
    assert report.TABLES.read_text() == report.all_tables(results)
    assert report.BEGIN + report.readme_part(results) + report.END in report.README.read_text()
    assert len(results["steps"]) == 18 and report.PICTURE.exists()
    for row in results["steps"]:
        assert len(row["ratios"]) >= 6, row
