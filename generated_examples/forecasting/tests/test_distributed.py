"""Two processes give what one gives with twice the batch size."""

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from unittest import mock

import pytest
import torch
from accelerate import Accelerator
from safetensors.torch import load_file

import train
from helpers import build_exact_model, build_sgd, column, launch, run
from test_evaluation import evaluate_sizes
from test_predict import predict_five


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> tuple[Path, str, str]:
    """A folder with a run on 1 process and one on 2, and the log of each."""
    folder = tmp_path_factory.mktemp("runs")
    with redirect_stdout(StringIO()) as log:
        exact_run(folder / "1", batch_size=32)
    on_two = launch(run_on_two, folder)
    assert on_two.returncode == 0, on_two.stderr
    return folder, log.getvalue(), on_two.stdout


def run_on_two(folder: Path) -> None:
    """All that the tests below compare, so that processes start once."""
    predict_five(folder / "1")
    exact_run(folder / "2")


def test_two_processes_are_one_with_twice_the_batch(runs):
    folder, one_log, two_log = runs
    one, two = (json.loads((folder / name / "facts.json").read_text()) for name in "12")
    assert (one["processes"], two["processes"]) == (1, 2)

    for size, expected in one["whole"].items():
        for name, value in expected.items():
            message = f"{name} of {size} samples differs on 2 processes: gather, drop padding"
            assert two["batched"][size][name] == pytest.approx(value, rel=1e-5, abs=1e-5), message
    seeds = {(folder / "2" / name).read_text() for name in ("seed0", "seed1")}
    assert len(seeds) == 2, "all processes have the same dropout: set device_specific=True"
    assert column(one_log, "lr") == column(two_log, "lr"), "the schedule depends on num_processes"
    for name, weights in load_file(folder / "1" / "model.safetensors").items():
        others = load_file(folder / "2" / "model.safetensors")[name]
        message = f"{name} differs between 2 processes and one with twice the batch size"
        torch.testing.assert_close(others, weights, rtol=0, atol=1e-5, msg=message)


def test_two_processes_predict_like_one(runs):
    """One row for each input, in their order."""
    folder = runs[0] / "1"
    predict_five(folder)
    one, two = (json.loads((folder / f"{count}.json").read_text()) for count in (1, 2))
    assert len(one) == len(two) > 0
    for row, other in zip(one, two, strict=True):
        assert other.keys() == row.keys()
        for name, value in row.items():
            close = value if isinstance(value, str) else pytest.approx(value, rel=1e-4, abs=1e-6)
            assert other[name] == close


def exact_run(folder: Path, batch_size: int = 16) -> None:
    """Evaluate, then train without randomness."""
    accelerator = Accelerator()
    facts = {"processes": accelerator.num_processes, **evaluate_sizes(accelerator, (1, 7, 33))}
    accelerator.free_memory()
    if accelerator.is_main_process:
        folder.mkdir()
        (folder / "facts.json").write_text(json.dumps(facts))
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        run(folder, epochs=1, batch_size=batch_size, learning_rate=0.03)
    (folder / f"seed{accelerator.process_index}").write_text(str(torch.initial_seed()))
