"""Pretrained detectors, segmenters and Whisper with what else one uses, all at once.

In bf16, with EMA and gradient accumulation; a learning rate and settings are searched; the model
is exported, or why it can't be is said in one line. All are small models with random weights.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from support.detectors import make_pretrained as make_detector
from support.segmenters import make_pretrained as make_segmenter
from support.training import fail, run
from support.whisper import make_project

pytestmark = [pytest.mark.train, pytest.mark.sweep]

USED: dict[str, Value] = {
    "hardware.mixed_precision": "bf16",
    "training.gradient_accumulation_steps": 2,
    "training.num_workers": 0,
    "features.ema.enabled": True,
    "features.export.enabled": True,
    "features.lr_finder.enabled": True,
    "features.search.enabled": True,
}


Make = Callable[[Path, str, Mapping[str, Value]], Path]
FIXED = "Can't export as {}: its code fixes the number of samples. Use --format safetensors."
# the model, and why it can't be exported as a program
MODELS: list[tuple[Make, str, str]] = [
    (make_detector, "rt_detr", FIXED),
    (make_detector, "detr", ""),
    (make_segmenter, "segformer", ""),
    (lambda folder, kind, given: make_project(folder, given, kind), "several", ""),
]


@pytest.mark.parametrize(("make", "kind", "refusal"), MODELS, ids=[kind for _, kind, _ in MODELS])
def test_a_pretrained_model_goes_with_what_else_one_uses(
    make: Make, kind: str, refusal: str, tmp_path: Path
) -> None:
    project = make(tmp_path, kind, USED)
    bf16 = {"ACCELERATE_MIXED_PRECISION": "bf16"}  # as `accelerate launch` sets it
    brief = ["--epochs", "1", "--limit-batches", "4"]
    trained = run(project, "train.py", "--batch-size", "2", *brief, processes=2, **bf16)
    assert "precision bf16 | batch 2 x 2 x 2 |" in trained
    found = run(project, "lr_finder.py", "--batch-size", "2", **bf16)
    assert "suggested: --learning-rate " in found
    run(project, "search.py", "--trials", "2", "--epochs", "1", "--limit-batches", "2", **bf16)
    for format in ("onnx", "torch", "safetensors"):
        export = ["export.py", "--format", format]
        if refusal and format != "safetensors":
            assert fail(project, *export).splitlines()[-1] == refusal.format(format)
        else:
            run(project, *export)
