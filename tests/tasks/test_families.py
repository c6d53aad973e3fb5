"""Encoders of many families, from their configuration: loaded by path, and trained two steps."""

from pathlib import Path

import pytest

from support.adapters import MAKE_MODELS, make
from support.rendering import write_project
from support.training import only_in_sweep, run, start

FAMILIES = ["albert", "big_bird", "deberta-v2", "electra", "esm", "longformer", "modernbert"]
FAMILIES += ["mpnet", "xlm-roberta", "xlnet"]
TASKS = ["text_classification", "token_classification", "question_answering"]
SHORT = ["--epochs", "1", "--limit-batches", "2", "--batch-size", "4"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(MAKE_MODELS, tmp_path_factory.mktemp("families"), *FAMILIES)


def project_of(folder: Path, task: str, model: Path, *features: str) -> Path:
    given = {"model": "pretrained", "pretrained_name": str(model), "max_length": 100}
    given |= {"overlap": 30} if task == "question_answering" else {}
    given |= {f"features.{feature}.enabled": True for feature in features}
    return write_project(folder, task, **given)


@only_in_sweep
@pytest.mark.parametrize("task", TASKS)
def test_encoders_of_many_families_are_trained(task: str, models: Path, tmp_path: Path) -> None:
    """Or the message says that the family has no such model."""
    project = project_of(tmp_path, task, models / "albert")
    for name in FAMILIES:
        model = ["--pretrained-name", str(models / name), "--output-dir", f"runs/{name}"]
        result = start(project, ["train.py", *SHORT, *model])
        if (task, name) == ("question_answering", "esm"):
            assert "can't be loaded: Unrecognized configuration class" in result.stderr
            assert "Traceback" not in result.stderr
        else:
            assert result.returncode == 0, (name, result.stderr)


@only_in_sweep
@pytest.mark.parametrize("task", TASKS)
def test_longformer_is_trained_on_two_processes(task: str, models: Path, tmp_path: Path) -> None:
    """Its layers for global attention have no gradient where no token attends to all others."""
    project = project_of(tmp_path, task, models / "longformer", "unused_parameters")
    run(project, "train.py", *SHORT, processes=2)
    inputs = ["Kelby is in Oslo.", *["Where?"] * (task == "question_answering")]
    assert run(project, "predict.py", *inputs)
