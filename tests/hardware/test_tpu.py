"""Projects for a TPU, run by XLA on a CPU: a torch that torch_xla was built for stands apart.

    python -m venv xla && xla/bin/pip install torch==2.9.* torch_xla==2.9.* accelerate==1.15.* \
        scikit-learn tqdm transformers pillow pandas
    XLA_PYTHON=xla/bin/python pytest -m sweep tests/hardware/test_tpu.py

One device: on several of a CPU, torch_xla 2.9 waits for ever in the first sum of gradients.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from scaffold.answers.manifests import load_catalog
from support.files import write_files
from support.rendering import render
from support.training import last_metrics

PYTHON = Path(os.environ.get("XLA_PYTHON", "")).absolute()
pytestmark = [
    pytest.mark.train,
    pytest.mark.sweep,
    pytest.mark.skipif("XLA_PYTHON" not in os.environ, reason="XLA_PYTHON names no Python"),
]
TPU = {"project.name": "example", "hardware.distributed_type": "XLA"}
BRIEF = ["--epochs", "2", "--limit-batches", "3", "--checkpoint-unit", "steps"]
BRIEF += ["--keep-checkpoints", "9", "--batch-size", "8"]
COUNT = """
from torch_xla.debug import metrics
from config import parse_config
from train import Config, main
main(parse_config(""))
print("graphs", metrics.metric_data("CompileTime")[0])
"""


def start(project: Path, command: list[str], *flags: str) -> str:
    """What such a run prints; XLA takes the CPU for its device."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"PJRT_DEVICE": "CPU", "LOCAL_RANK": "0", "PYTHONWARNINGS": "ignore"}
    command = [str(PYTHON.parent / command[0]), *command[1:], *BRIEF, *flags]
    result = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, timeout=900
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 process(es) on xla" in result.stdout
    return result.stdout


@pytest.mark.parametrize("task", load_catalog().tasks)
def test_it_trains_and_goes_on_as_if_never_stopped(task: str, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    project = write_files(tmp_path / "project", render({**TPU, "project.task": task}))
    launch = ["accelerate", "launch", "--config_file", "accelerate.yaml", "train.py"]
    start(project, launch, "--output-dir", "whole")
    checkpoints = sorted((project / "whole").glob("checkpoint_*"))
    assert len(checkpoints) == 6
    shutil.copytree(project / "whole", project / "again")
    for path in sorted((project / "again").glob("checkpoint_*"))[2:]:
        shutil.rmtree(path)
    assert "at step 2" in start(project, launch, "--output-dir", "again", "--resume")
    whole, again = ((project / name / "model.safetensors") for name in ("whole", "again"))
    weights = load_file(whole)
    assert weights and all(value.isfinite().all() for value in weights.values())
    assert whole.read_bytes() == again.read_bytes()
    assert last_metrics(project, "whole") == last_metrics(project, "again")


@pytest.mark.parametrize("task", ["text_classification", "seq2seq"])
def test_texts_of_other_lengths_need_no_other_graph(task: str, tmp_path: Path) -> None:
    """Twice the batches, not one graph more."""
    project = write_files(tmp_path / "project", render({**TPU, "project.task": task}))
    (project / "count.py").write_text(COUNT)
    graphs = [
        start(
            project, ["python", "count.py"], "--output-dir", count, "--limit-batches", count
        ).splitlines()[-1]
        for count in ("4", "8")
    ]
    assert graphs[0].startswith("graphs ") and graphs[0] == graphs[1]
