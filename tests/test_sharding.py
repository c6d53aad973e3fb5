"""A model that is split among processes learns, is evaluated, saved and resumed as a whole one."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import given_for, render, write_files
from test_training import CATALOG, count_processes, start

from scaffold.answers import resolve
from scaffold.catalog import Value
from scaffold.errors import AnswerError

DRIVER = Path(__file__).parent / "drivers" / "split_on_cpu.py"
SHORT = ["--epochs", "1", "--limit-batches", "5", "--log-every", "1"]
SAVES = ["--checkpoint-unit", "updates", "--checkpoint-every", "2", "--keep-checkpoints", "99"]
SPLIT: dict[str, Value] = {"hardware.sharding": "fsdp", "hardware.num_processes": 2}
QUICK = ["language_model"]
TASKS = [name for name, task in CATALOG.tasks.items() if "one_optimizer" in task.has]
WAYS: dict[str, Mapping[str, Value]] = {
    "kept weights": {"fsdp.reshard_after_forward": False},
    "one unit": {"fsdp.auto_wrap_policy": "NO_WRAP"},
    "named layers": {"fsdp.transformer_layer_cls_to_wrap": "Block"},
    "one file": {"fsdp.state_dict_type": "FULL_STATE_DICT"},
    "activation checkpointing": {"fsdp.activation_checkpointing": True},
    "accumulation": {"training.gradient_accumulation_steps": 2},
    "adaptive clipping": {"features.clipping.kind": "adaptive"},
    "no decay": {"features.no_decay.enabled": True},
}


def project_of(folder: Path, given: Mapping[str, Value]) -> Path:
    project = write_files(folder / "project", render({**SPLIT, **given}))
    shutil.copy(DRIVER, project)
    return project


def train(project: Path, run: str, script: str, processes: int, *more: str) -> str:
    """What a run on so many processes prints. It says whether its model was split."""
    arguments = [script, *SHORT, *SAVES, "--output-dir", f"runs/{run}", *more]
    result = start(project, arguments, processes)
    assert result.returncode == 0, result.stderr
    assert count_processes(result.stdout) == processes
    split = script == DRIVER.name
    says = ("model split", "DeepSpeed on") if split else ("model whole", "DeepSpeed off")
    assert any(f"| {words} |" in result.stdout for words in says)
    return result.stdout


def assert_same_weights(project: Path, one: str, other: str, names: tuple[str, ...]) -> None:
    import torch
    from safetensors.torch import load_file

    for name in names:
        weights, others = (load_file(project / "runs" / run / name) for run in (one, other))
        assert weights.keys() == others.keys()
        for key, value in weights.items():
            torch.testing.assert_close(others[key], value, rtol=0, atol=1e-5, msg=f"{name}: {key}")


def assert_split_is_whole(folder: Path, given: Mapping[str, Value], processes: int = 2) -> Path:
    """Whole copies and a split model have the same weights and results, and it resumes exactly."""
    project = project_of(folder, given)
    whole = train(project, "whole", "train.py", processes)
    split = train(project, "split", DRIVER.name, processes)
    assert_same_weights(project, "whole", "split", ("model.safetensors", "best.safetensors"))
    assert results(split) == pytest.approx(results(whole), rel=1e-4, abs=2e-4)

    shutil.copytree(project / "runs/split", project / "runs/resumed")
    for later in sorted((project / "runs/resumed").glob("checkpoint_*"))[1:]:
        shutil.rmtree(later)
    resumed = train(project, "resumed", DRIVER.name, processes, "--resume")
    assert results(resumed) == results(split)
    final = [project / "runs" / run / "model.safetensors" for run in ("split", "resumed")]
    assert final[0].read_bytes() == final[1].read_bytes()
    return project


def assert_best_weights_are_loaded(project: Path) -> None:
    """Into the split model: a run that is over loads, tests and saves what best.safetensors has."""
    from safetensors.torch import load_file, save_file

    folder = project / "runs/split"
    marked = {key: value + 1 for key, value in load_file(folder / "best.safetensors").items()}
    save_file(marked, folder / "best.safetensors")
    train(project, "split", DRIVER.name, 2, "--resume")
    saved = load_file(folder / "model.safetensors")
    assert saved.keys() == marked.keys()
    assert all(saved[key].equal(value) for key, value in marked.items())


def results(output: str) -> list[float]:
    """All that the evaluations of a run say."""
    lines = re.findall(r"^(?:epoch 1/1|done) \| (.*)$", output, re.MULTILINE)
    assert len(lines) == 2, output
    return [float(part.split()[-1]) for line in lines for part in line.split(" | ")]


@pytest.mark.train
@pytest.mark.parametrize("task", QUICK)
def test_split_among_two_processes(task: str, tmp_path: Path) -> None:
    project = assert_split_is_whole(tmp_path, {"project.task": task})
    assert_best_weights_are_loaded(project)


@pytest.mark.sweep
@pytest.mark.train
@pytest.mark.parametrize("task", [task for task in TASKS if task not in QUICK])
def test_every_task_can_be_split(task: str, tmp_path: Path) -> None:
    # plain steps: adaptive ones blow up the rounding of gradients that are 0, as of keys' biases
    assert_split_is_whole(tmp_path, {"project.task": task, "training.optimizer": "sgd"})


@pytest.mark.sweep
@pytest.mark.train
@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_splitting(way: str, tmp_path: Path) -> None:
    assert_split_is_whole(tmp_path, {"project.task": "language_model", **WAYS[way]})


@pytest.mark.sweep
@pytest.mark.train
def test_copies_of_a_split_model(tmp_path: Path) -> None:
    """Two copies, each split among two of four processes."""
    given: dict[str, Value] = {"project.task": "language_model", "hardware.num_processes": 4}
    given["parallelism.enabled"] = True
    given |= {"parallelism.dp_replicate_size": 2, "parallelism.dp_shard_size": 2}
    assert_split_is_whole(tmp_path, given, processes=4)


@pytest.mark.sweep
@pytest.mark.train
@pytest.mark.parametrize("steps", [1, 2], ids=["plain", "accumulation"])
@pytest.mark.parametrize("stage", [1, 2])
def test_deepspeed(stage: int, steps: int, tmp_path: Path) -> None:
    pytest.importorskip("deepspeed", reason="DeepSpeed is not installed")
    given: dict[str, Value] = {"project.task": "language_model", "hardware.sharding": "deepspeed"}
    given |= {"hardware.distributed_type": "MULTI_GPU", "deepspeed.zero_stage": stage}
    given["training.gradient_accumulation_steps"] = steps
    assert_best_weights_are_loaded(assert_split_is_whole(tmp_path, given))


@pytest.mark.sweep
@pytest.mark.train
def test_dropout_is_the_same_when_activations_are_computed_again(tmp_path: Path) -> None:
    given: dict[str, Value] = {"project.task": "seq2seq", "fsdp.activation_checkpointing": True}
    project = project_of(tmp_path / "again", given)
    kept = project_of(tmp_path / "kept", {"project.task": "seq2seq"})
    dropout = ("--dropout", "0.3")
    train(project, "split", DRIVER.name, 2, *dropout)
    train(kept, "split", DRIVER.name, 2, *dropout)
    shutil.copytree(kept / "runs/split", project / "runs/kept")
    assert_same_weights(project, "split", "kept", ("model.safetensors",))


@pytest.mark.sweep
@pytest.mark.train
def test_a_split_model_in_16_bits(tmp_path: Path) -> None:
    """It ends near the one in 32 bits, not at it."""
    given = {"project.task": "language_model", "hardware.mixed_precision": "bf16"}
    project = project_of(tmp_path, given)
    half = results(train(project, "half", DRIVER.name, 2))
    full = results(train(project, "full", DRIVER.name, 2, "--mixed-precision", "no"))
    assert half != full
    assert half == pytest.approx(full, rel=0.02)


def test_a_few_lines_change_for_several_devices() -> None:
    """The same project for one device and for eight that share the model."""
    task: dict[str, Value] = {"project.task": "language_model"}
    one = render(task)
    eight = render({**task, "hardware.sharding": "fsdp", "hardware.num_processes": 8})
    changed = {name: set(eight[name].splitlines()) - set(one[name].splitlines()) for name in one}
    assert sum(map(len, (changed[name] for name in ("train.py", "model.py", "data.py")))) <= 15
    assert not changed["data.py"] | changed["metrics.py"] | changed["flags.py"]
    assert "fsdp_plugin=FullyShardedDataParallelPlugin(" in eight["train.py"]
    assert not any("fsdp" in text.lower() for name, text in one.items() if name.endswith(".py"))


REFUSED: dict[str, tuple[dict[str, Value], str]] = {
    "size": ({"fsdp.auto_wrap_policy": "SIZE_BASED_WRAP"}, "name classes in"),
    "no layers": ({"fsdp.activation_checkpointing": True}, "this task knows none"),
    "no units": (
        {"fsdp.activation_checkpointing": True, "fsdp.auto_wrap_policy": "NO_WRAP"},
        "it goes by layers",
    ),
    "offloading": (
        {"fsdp.offload_params": True, "hardware.launcher": "torchrun"},
        "hardware.launcher=accelerate",
    ),
    "values": ({"features.clipping.enabled": True, "features.clipping.kind": "value"}, "take norm"),
    "BatchNorm": ({"image_classification.model": "timm"}, "sync_batch_norm on"),
    "schedule-free": ({"training.optimizer": "schedule_free"}, "does not resume exactly"),
    "adafactor": ({"training.optimizer": "adafactor"}, "norms of weights"),
    "ZeRO 3": (
        {
            "project.task": "language_model",
            "hardware.sharding": "deepspeed",
            "deepspeed.zero_stage": 3,
        },
        "can't resume it",
    ),
    "ZeRO, values": (
        {
            "hardware.sharding": "deepspeed",
            "features.clipping.enabled": True,
            "features.clipping.kind": "value",
        },
        "take norm",
    ),
    "average": ({"features.ema.enabled": True}, "can't be combined with the feature ema"),
    "tensor parallel": (
        {"parallelism.enabled": True, "parallelism.tp_size": 2},
        "needs a plan",
    ),
    "context parallel": (
        {"parallelism.enabled": True, "parallelism.cp_size": 2},
        "cuts each batch",
    ),
    "copies alone": (
        {"parallelism.enabled": True, "parallelism.dp_replicate_size": 2},
        "hardware.sharding=none",
    ),
}


@pytest.mark.parametrize("label", REFUSED)
def test_what_can_not_be_split_says_why(label: str) -> None:
    given, reason = REFUSED[label]
    with pytest.raises(AnswerError, match=re.escape(reason)):
        resolve(CATALOG, {**given_for(CATALOG, []), **SPLIT, **given})
