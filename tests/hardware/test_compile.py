"""A compiled model learns, is evaluated, saved and resumed as one that is not compiled."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from support.files import write_files
from support.paths import DRIVERS
from support.rendering import render
from support.split import results
from support.training import count_processes, only_in_sweep, run

DRIVER = DRIVERS / "compiled.py"
SHORT = ["--epochs", "1", "--limit-batches", "8", "--log-every", "1"]
SAVES = ["--checkpoint-unit", "steps", "--checkpoint-every", "2", "--keep-checkpoints", "99"]
COMPILED: dict[str, Value] = {
    "hardware.dynamo_backend": "inductor",
    # plain steps: adaptive ones blow up the rounding of small gradients
    "training.optimizer": "sgd",
}
# the answers, and the processes
WAYS: dict[str, tuple[Mapping[str, Value], int]] = {
    "whole": ({"project.task": "image_classification"}, 1),
    "layers, two processes": ({"project.task": "language_model", "compile.regional": True}, 2),
    "accumulation, two processes": (
        {"project.task": "image_classification", "training.gradient_accumulation_steps": 2},
        2,
    ),
    "bf16": ({"project.task": "image_classification", "hardware.mixed_precision": "bf16"}, 1),
}


@only_in_sweep
@pytest.mark.parametrize("way", WAYS)
def test_a_compiled_model_trains_as_any_other(way: str, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file

    more, processes = WAYS[way]
    project = write_files(tmp_path / "project", render({**COMPILED, **more}))
    shutil.copy(DRIVER, project)

    def train(name: str, script: str, *flags: str) -> list[float]:
        arguments = [script, *SHORT, *SAVES, "--output-dir", f"runs/{name}", *flags]
        result = run(project, *arguments, processes=processes, timeout=500)
        assert count_processes(result) == processes
        graphs = re.findall(r"(\d+) graphs", result)
        assert len(graphs) == (processes if script == DRIVER.name else 0)
        assert all(int(count) for count in graphs)
        return results(result)

    # the compiler draws dropout from random numbers of its own
    model = (project / "model.py").read_text()
    (project / "model.py").write_text(re.sub(r"nn\.Dropout2?d?\(.*?\)", "nn.Identity()", model))
    plain, compiled = train("plain", "train.py"), train("compiled", DRIVER.name)
    loose = 1e-2 if "bf16" in way else 2e-4
    assert compiled == pytest.approx(plain, rel=loose, abs=loose)
    weights = [
        load_file(project / "runs" / run / "model.safetensors") for run in ("plain", "compiled")
    ]
    assert weights[0].keys() == weights[1].keys()
    for name, value in weights[0].items():
        torch.testing.assert_close(weights[1][name], value, rtol=0, atol=loose, msg=name)

    shutil.copytree(project / "runs/compiled", project / "runs/resumed")
    for later in sorted((project / "runs/resumed").glob("checkpoint_*"))[1:]:
        shutil.rmtree(later)
    assert train("resumed", DRIVER.name, "--resume") == compiled
    final = [project / "runs" / run / "model.safetensors" for run in ("compiled", "resumed")]
    assert final[0].read_bytes() == final[1].read_bytes()


@pytest.mark.train
def test_the_weights_of_a_model_that_accelerate_compiled_have_their_own_names(
    tmp_path: Path,
) -> None:
    """The environment compiles it, as `accelerate launch --dynamo_backend` does."""
    project = write_files(tmp_path / "project", render({}))
    run(project, "train.py", *SHORT, ACCELERATE_DYNAMO_BACKEND="eager")
    assert run(project, "-c", "from predict import load; print(load()[1].training)") == "False\n"
