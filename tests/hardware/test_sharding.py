"""A model that is split among processes learns, is evaluated, saved and resumed as a whole one."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from scaffold.answers.check import parse_setting
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.errors import AnswerError
from support.combinations import given_for, in_turns
from support.forge import Bomb, assert_nothing_is_executed, seal, ways
from support.rendering import render
from support.split import (
    DRIVER,
    MAKE_PRETRAINED,
    SPLIT,
    assert_same_weights,
    assert_split_is_whole,
    project_of,
    results,
    train,
)
from support.training import fail, only_in_sweep, run, start

CATALOG = load_catalog()
QUICK = ["language_model"]
TASKS = [name for name, task in CATALOG.tasks.items() if "one_optimizer" in task.has]


def settings(text: str) -> dict[str, Value]:
    """As people write them for --set."""
    return dict(parse_setting(CATALOG, setting) for setting in text.split())


ACCUMULATION, AGAIN = "training.gradient_accumulation_steps=2", "fsdp.activation_checkpointing=true"
WAYS = [
    "fsdp.reshard_after_forward=false",
    "fsdp.auto_wrap_policy=NO_WRAP",
    "fsdp.transformer_layer_cls_to_wrap=Block",
    "fsdp.state_dict_type=FULL_STATE_DICT",
    AGAIN,
    ACCUMULATION,
    "features.clipping.kind=adaptive",
    "features.no_decay.enabled=true",
]
OLDER: dict[str, Value] = {
    "project.task": "language_model",
    "fsdp.version": 1,
    "fsdp.sync_module_states": False,  # it needs a device that is no CPU; the seeds are the same
}
# not one file for the optimizer: on the CPU, PyTorch gathers its averages into the same memory
WAYS_OF_OLDER = [
    "fsdp.version=1",
    "fsdp.sharding_strategy=SHARD_GRAD_OP",
    "fsdp.sharding_strategy=NO_SHARD",
    "project.task=image_classification fsdp.auto_wrap_policy=SIZE_BASED_WRAP "
    "fsdp.min_num_params=1000",
    "fsdp.forward_prefetch=true fsdp.backward_prefetch=BACKWARD_POST",
    AGAIN,
    ACCUMULATION,
]
SHARED: dict[str, Value] = {
    "project.task": "language_model",
    "parallelism.enabled": True,
    "parallelism.cp_size": 2,
    # plain steps, which show gradients of another size, and do not blow up their rounding
    "training.optimizer": "sgd",
    "training.learning_rate": 0.1,
    "features.clipping.enabled": False,
}
WHOLE_SETS = ("--limit-batches", "0", "--max-steps", "5")  # an epoch of 5 steps, evaluated whole
# by more settings: the processes, as many as train on whole texts, the flags of both
Sharing = dict[str, tuple[int, int, tuple[str, ...]]]
SHARDS = "hardware.num_processes=4 parallelism.dp_shard_size=2"
SHARING: Sharing = {
    SHARDS: (4, 2, ()),
    ACCUMULATION: (2, 1, ()),
    f"{SHARDS} {ACCUMULATION}": (4, 2, ()),
    "parallelism.cp_comm_strategy=alltoall": (2, 1, ()),
    "hardware.num_processes=3 parallelism.cp_size=3": (3, 1, ()),
    "parallelism.cp_size=2": (2, 1, ("--context", "31")),  # an odd length
    AGAIN: (2, 1, ()),
}


def assert_best_weights_are_loaded(project: Path) -> None:
    """Into the split model: a run that is over loads, tests and saves what best.safetensors has."""
    from safetensors.torch import load_file, save_file

    folder = project / "runs/split"
    last = max(folder.glob("checkpoint_*"))  # which has its best model
    marked = {key: value + 1 for key, value in load_file(last / "best.safetensors").items()}
    save_file(marked, last / "best.safetensors")
    seal(last)
    train(project, "split", DRIVER.name, 2, "--resume")
    saved = load_file(folder / "model.safetensors")
    assert saved.keys() == marked.keys()
    assert all(saved[key].equal(value) for key, value in marked.items())


@pytest.mark.train
@pytest.mark.parametrize("task", QUICK)
def test_split_among_two_processes(task: str, tmp_path: Path) -> None:
    project = assert_split_is_whole(tmp_path, {"project.task": task})
    assert_best_weights_are_loaded(project)


READ_MEMBER = """
import io, pickle
from sharded_metadata import MetadataUnpickler
from torch.distributed.checkpoint.metadata import _MEM_FORMAT_ENCODING as Encoding

START = b"cbuiltins\\ngetattr\\n(ctorch.distributed.checkpoint.metadata\\n"
for name in ("TORCH_CHANNELS_LAST", "__reduce__"):
    data = START + f"_MEM_FORMAT_ENCODING\\nV{name}\\ntR.".encode()
    try:
        print(MetadataUnpickler(io.BytesIO(data)).load() is Encoding.TORCH_CHANNELS_LAST)
    except KeyError as error:
        print("no member", error)
"""


@pytest.mark.train
def test_members_of_enums_are_read_as_any_python_writes_them(tmp_path: Path) -> None:
    """Python 3.11.2 writes them with getattr, which may not reach anything else."""
    project = project_of(tmp_path, {"project.task": "image_classification"})
    assert run(project, "-c", READ_MEMBER) == "True\nno member '__reduce__'\n"


FORGED: dict[str, Mapping[str, Value]] = {
    "parts": {},
    "parts of the older version": {**OLDER, "project.task": "image_classification"},
}


@pytest.mark.train
@pytest.mark.parametrize("way", in_turns(FORGED, 2))
def test_nothing_in_a_split_checkpoint_is_executed(way: str, tmp_path: Path) -> None:
    project = project_of(tmp_path, FORGED[way])
    train(project, "split", DRIVER.name, 2)
    assert_nothing_is_executed(project, 2)


@only_in_sweep
@pytest.mark.parametrize("name", ["pytorch_model_fsdp.bin", "optimizer.bin"])
def test_nothing_in_one_file_of_a_split_model_is_executed(name: str, tmp_path: Path) -> None:
    """Only the main process reads it: the others end with it."""
    project = project_of(tmp_path, {"fsdp.state_dict_type": "FULL_STATE_DICT"})
    train(project, "split", DRIVER.name, 2)
    last = max((project / "runs/split").glob("checkpoint_*"))
    (last / name).write_bytes(ways(Bomb(project / "executed"))["zip"])
    seal(last)
    refused = start(project, [DRIVER.name, "--output-dir", "runs/split", "--resume"], 2)
    assert refused.returncode
    assert "contains more than tensors and plain values" in refused.stderr + refused.stdout
    assert not (project / "executed").exists()


@only_in_sweep
@pytest.mark.parametrize("task", [task for task in TASKS if task not in QUICK])
def test_every_task_can_be_split(task: str, tmp_path: Path) -> None:
    # plain steps: adaptive ones blow up the rounding of gradients that are 0, as of keys' biases
    assert_split_is_whole(tmp_path, {"project.task": task, "training.optimizer": "sgd"})


@only_in_sweep
@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_splitting(way: str, tmp_path: Path) -> None:
    assert_split_is_whole(tmp_path, {"project.task": "language_model", **settings(way)})


@only_in_sweep
@pytest.mark.parametrize("way", WAYS_OF_OLDER)
def test_every_way_of_the_older_version(way: str, tmp_path: Path) -> None:
    assert_split_is_whole(tmp_path, {**OLDER, **settings(way)})


@only_in_sweep
def test_copies_of_a_split_model(tmp_path: Path) -> None:
    """Two copies, each split among two of four processes."""
    given: dict[str, Value] = {"project.task": "language_model", "hardware.num_processes": 4}
    given["parallelism.enabled"] = True
    given |= {"parallelism.dp_replicate_size": 2, "parallelism.dp_shard_size": 2}
    assert_split_is_whole(tmp_path, given, processes=4)


@only_in_sweep
def test_two_processes_share_each_text(tmp_path: Path) -> None:
    """Each has a part of every text: together they are one process with whole texts."""
    project = assert_split_is_whole(tmp_path, SHARED, 2, 1, *WHOLE_SETS)
    shutil.rmtree(project / "runs/split")
    train(project, "split", DRIVER.name, 2)  # its last checkpoint is at the end of an epoch
    assert_best_weights_are_loaded(project)
    apart = fail(project, "train.py", "--output-dir", "runs/split", "--resume", processes=2)
    assert "processes_per_text was 2, not 1, " in apart


@only_in_sweep
@pytest.mark.parametrize("way", SHARING)
def test_every_way_of_sharing_texts(way: str, tmp_path: Path) -> None:
    processes, copies, flags = SHARING[way]
    given = {**SHARED, **settings(way)}
    assert_split_is_whole(tmp_path, given, processes, copies, *WHOLE_SETS, *flags)


CUT: dict[str, Value] = {
    **{key: value for key, value in SHARED.items() if key != "parallelism.cp_size"},
    "hardware.num_processes": 4,
    "parallelism.dp_shard_size": 2,
    "parallelism.tp_size": 2,
}
CUTTING: Sharing = {
    "parallelism.tp_size=2": (4, 2, ()),
    ACCUMULATION: (4, 2, ()),
    "features.clipping.enabled=true features.clipping.max_norm=0.1": (4, 2, ()),
    "fsdp.state_dict_type=FULL_STATE_DICT": (4, 2, ()),
    "hardware.num_processes=6 parallelism.tp_size=3": (6, 2, ("--heads", "3", "--width", "48")),
    "hardware.num_processes=8 parallelism.dp_replicate_size=2": (8, 4, ()),
    AGAIN: (4, 2, ()),
    "features.clipping.enabled=true features.clipping.kind=adaptive features.no_decay.enabled=true "
    "features.custom_metric.enabled=true features.hooks.enabled=true "
    "features.own_sampler.enabled=true": (4, 2, ()),
    "hardware.num_processes=8 parallelism.cp_size=2": (8, 2, ("--context", "31")),
    f"parallelism.dp_shard_size=1 parallelism.cp_size=2 {ACCUMULATION}": (4, 1, ()),
}


def assert_layers_are_cut(project: Path, processes: int) -> None:
    """Each process has a part of a part of the weights, and a part of those that are not cut."""
    log = (project / "split.log").read_text()
    name = r"blocks\.0\.(?:_checkpoint_wrapped_module\.)?"
    for weight, shape in {
        "query_key_value": "48, 64",  # of (192, 64), cut by 2 and by 2
        "projection": "32, 32",  # of (64, 64)
        "mlp.0": "64, 64",
        "mlp.2": "32, 128",
        "mlp_norm": "32",  # by FSDP alone
    }.items():
        found = re.findall(rf"\('{name}{re.escape(weight)}\.weight', (.*?),?\)", log)
        assert found == [shape] * processes, log


@only_in_sweep
def test_four_processes_share_each_text_and_each_layer(tmp_path: Path) -> None:
    """Each has half of every text, and of every layer: together they are one with all of both."""
    given = {**CUT, "parallelism.dp_shard_size": 1, "parallelism.cp_size": 2}
    project = assert_split_is_whole(tmp_path, given, 4, 1, *WHOLE_SETS)
    assert_layers_are_cut(project, 4)
    script = "import train, tensor_parallel; config = train.Config(heads=1);"
    script += "tensor_parallel.check_cuts(train.build_model(config), 2)"
    assert "2 processes can't share 1 attention heads equally" in fail(project, "-c", script)


@only_in_sweep
@pytest.mark.parametrize("way", CUTTING)
def test_every_way_of_sharing_layers(way: str, tmp_path: Path) -> None:
    processes, copies, flags = CUTTING[way]
    given = {**CUT, **settings(way)}
    project = assert_split_is_whole(tmp_path, given, processes, copies, *WHOLE_SETS, *flags)
    if processes == 4 and copies == 2:
        assert_layers_are_cut(project, processes)
    if way == "parallelism.tp_size=2":
        apart = fail(
            project, "train.py", "--output-dir", "runs/split", "--resume", processes=processes
        )
        assert "processes_per_layer was 2, not 1, " in apart


@only_in_sweep
def test_processes_share_the_texts_of_a_pretrained_model(tmp_path: Path) -> None:
    """Positions that are learned and that are turned, heads that share keys, weights used twice."""
    given = {**SHARED, "language_model.model": "pretrained", "language_model.context": 49}
    given["language_model.model_name"] = "gpt2"
    project = project_of(tmp_path, given)
    run(project, "-c", MAKE_PRETRAINED)
    for name in ("gpt2", "llama"):
        assert_split_is_whole(tmp_path, given, 2, 1, *WHOLE_SETS, "--model-name", name)
        shutil.rmtree(project / "runs")
    for script, processes in (("train.py", 1), (DRIVER.name, 2)):
        refused = fail(project, script, "--model-name", "mistral", processes=processes)
        assert "has layers with sliding_attention" in refused


@only_in_sweep
def test_processes_share_the_layers_of_a_pretrained_model(tmp_path: Path) -> None:
    """Norms of heads, layers and embeddings whose outputs are put together, weights used twice."""
    given = {**CUT, "language_model.model": "pretrained", "language_model.context": 49}
    given |= {"language_model.model_name": "llama", "features.clipping.enabled": True}
    project = project_of(tmp_path, given)
    run(project, "-c", MAKE_PRETRAINED)
    for name in ("llama", "qwen3", "gpt_neox", "phi3"):
        assert_split_is_whole(tmp_path, given, 4, 2, *WHOLE_SETS, "--model-name", name)
        shutil.rmtree(project / "runs")
    for name, reason in {
        "gpt2": "are cut in no known way",
        "mixtral": "are cut in moe_tp_experts",
    }.items():
        assert reason in fail(project, DRIVER.name, "--model-name", name, processes=4)


@only_in_sweep
@pytest.mark.parametrize("steps", [1, 2], ids=["plain", "accumulation"])
@pytest.mark.parametrize("stage", [1, 2])
def test_deepspeed(stage: int, steps: int, tmp_path: Path) -> None:
    pytest.importorskip("deepspeed", reason="DeepSpeed is not installed")
    given: dict[str, Value] = {"project.task": "language_model", "hardware.sharding": "deepspeed"}
    given |= {"hardware.distributed_type": "MULTI_GPU", "deepspeed.zero_stage": stage}
    given["training.gradient_accumulation_steps"] = steps
    assert_best_weights_are_loaded(assert_split_is_whole(tmp_path, given))


@only_in_sweep
@pytest.mark.parametrize("name", ["mp_rank_00_model", "zero_pp_rank_{}_mp_rank_00_optim"])
def test_nothing_in_a_checkpoint_of_deepspeed_is_executed(name: str, tmp_path: Path) -> None:
    pytest.importorskip("deepspeed", reason="DeepSpeed is not installed")
    given: dict[str, Value] = {"project.task": "language_model", "hardware.sharding": "deepspeed"}
    project = project_of(tmp_path, {**given, "hardware.distributed_type": "MULTI_GPU"})
    train(project, "split", DRIVER.name, 2)
    last = max((project / "runs/split").glob("checkpoint_*"))
    for process in range(2):
        path = last / f"pytorch_model/{name.format(process)}_states.pt"
        assert path.exists()
        path.write_bytes(ways(Bomb(project / "executed"))["zip"])
    seal(last)
    refused = fail(project, DRIVER.name, "--output-dir", "runs/split", "--resume", processes=2)
    assert "contains more than tensors and plain values" in refused
    assert not (project / "executed").exists()


FILE = """
{"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto",
 "gradient_accumulation_steps": 1, "zero_optimization": {"stage": 1}}
"""
STAGE_3 = "project.task=image_classification deepspeed.zero_stage=3"
OFFLOADED = "deepspeed.offload_optimizer_device=cpu"
WAYS_OF_DEEPSPEED = [
    "features.clipping.enabled=false",
    OFFLOADED,
    "deepspeed.config_file=deepspeed.json features.clipping.enabled=false",
    STAGE_3,
    f"{STAGE_3} {OFFLOADED} deepspeed.offload_param_device=cpu",
]


@only_in_sweep
@pytest.mark.parametrize("way", WAYS_OF_DEEPSPEED)
def test_every_way_of_deepspeed(way: str, tmp_path: Path) -> None:
    pytest.importorskip("deepspeed", reason="DeepSpeed is not installed")
    given: dict[str, Value] = {"project.task": "language_model", "hardware.sharding": "deepspeed"}
    given |= {"hardware.distributed_type": "MULTI_GPU", **settings(way)}
    (tmp_path / "project").mkdir()
    (tmp_path / "project/deepspeed.json").write_text(FILE)
    assert_best_weights_are_loaded(assert_split_is_whole(tmp_path, given))


@only_in_sweep
def test_dropout_is_the_same_when_activations_are_computed_again(tmp_path: Path) -> None:
    given: dict[str, Value] = {"project.task": "seq2seq", "fsdp.activation_checkpointing": True}
    project = project_of(tmp_path / "again", given)
    kept = project_of(tmp_path / "kept", {"project.task": "seq2seq"})
    dropout = ("--dropout", "0.3")
    train(project, "split", DRIVER.name, 2, *dropout)
    train(kept, "split", DRIVER.name, 2, *dropout)
    shutil.copytree(kept / "runs/split", project / "runs/kept")
    assert_same_weights(project, "split", "kept", ("model.safetensors",))


@only_in_sweep
def test_a_split_model_is_evaluated_on_targets_of_any_length(tmp_path: Path) -> None:
    """Processes with batches of other lengths call the layers equally often."""
    project = project_of(tmp_path, {"project.task": "seq2seq", "seq2seq.dataset": "csv"})
    lengths = [number * 37 % 200 + 1 for number in range(400)]
    rows = "".join(f"{'a' * length},{'b' * length}\n" for length in lengths)
    (project / "pairs.csv").write_text(f"source,target\n{rows}")
    split = train(project, "split", DRIVER.name, 2, "--batch-size", "2")
    whole = train(project, "whole", "train.py", 2, "--batch-size", "2")
    assert results(split) == pytest.approx(results(whole), rel=1e-4, abs=2e-4)


@only_in_sweep
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
    assert not changed["data.py"] | changed["metrics.py"]
    (layers,) = changed["model.py"]
    assert layers.lstrip().startswith('self._no_split_modules = ["Block"]')
    assert "fsdp_plugin=FullyShardedDataParallelPlugin(" in eight["train.py"]
    assert not any("fsdp" in text.lower() for name, text in one.items() if name.endswith(".py"))


BATCH_NORM = "turn on features.sync_batch_norm"
SEGMENTATION = "semantic_segmentation"
OF_IMAGES = "needs a causal language model, which image_classification"
# settings beside others, and a part of what is said of them
REFUSED: list[tuple[Mapping[str, Value], dict[str, str]]] = [
    (
        {},
        {
            "fsdp.auto_wrap_policy=SIZE_BASED_WRAP": "name the layer classes in",
            "fsdp.activation_checkpointing=true": "name the classes of the",
            "fsdp.activation_checkpointing=true fsdp.auto_wrap_policy=NO_WRAP": "layer by layer",
            "fsdp.offload_params=true hardware.launcher=torchrun": "hardware.launcher=accelerate",
            "features.clipping.enabled=true features.clipping.kind=value": "use norm",
            "image_classification.model=timm": BATCH_NORM,
            "project.task=self_supervised self_supervised.encoder=torchvision": BATCH_NORM,
            f"project.task={SEGMENTATION} {SEGMENTATION}.model=torchvision": BATCH_NORM,
            "project.task=object_detection object_detection.model=timm": BATCH_NORM,
            "training.optimizer=schedule_free": "does not resume exactly",
            "training.optimizer=adafactor": "norms of sharded weights",
            "features.ema.enabled=true": "can't be combined with the feature ema",
            "parallelism.enabled=true parallelism.cp_size=2": OF_IMAGES,
            "project.task=language_model parallelism.cp_size=2": "with parallelism.enabled=true",
            "parallelism.enabled=true parallelism.dp_replicate_size=2": "hardware.sharding=none",
        },
    ),
    (
        {"hardware.sharding": "deepspeed"},
        {
            "project.task=language_model deepspeed.zero_stage=3": "can't resume it",
            "features.clipping.enabled=true features.clipping.kind=value": "use norm",
        },
    ),
    (
        OLDER,
        {
            "fsdp.auto_wrap_policy=SIZE_BASED_WRAP": "but the logits use its weights too",
            "fsdp.use_orig_params=false": "would train nothing",
        },
    ),
    (
        CUT,
        {
            "hardware.num_processes=2 parallelism.dp_shard_size=1": "use 2 or more, and "
            "hardware.num_processes=4",
            "parallelism.dp_replicate_size=2 parallelism.dp_shard_size=1": "use 2 or more, and "
            "hardware.num_processes=8",
            "project.task=image_classification": OF_IMAGES,
            "hardware.dynamo_backend=inductor": "can't be combined with the feature compile",
            "fsdp.cpu_ram_efficient_loading=true": "gets its weights from its first process",
            "hardware.mixed_precision=fp8": "can't be combined with the feature fp8",
            "hardware.num_processes=8": "tp_size 2 x cp_size 1 is 4, but hardware.num_processes is",
        },
    ),
    (
        SHARED,
        {
            "hardware.num_processes=4 parallelism.dp_replicate_size=2": "or parallelism."
            "dp_replicate_size=1",
            "hardware.distributed_type=MULTI_XPU": "only works on NVIDIA and AMD GPUs",
        },
    ),
]


@pytest.mark.parametrize(
    ("beside", "way", "reason"),
    [
        pytest.param(beside, way, reason, id=way)
        for beside, refused in REFUSED
        for way, reason in refused.items()
    ],
)
def test_what_can_not_be_split_says_why(beside: Mapping[str, Value], way: str, reason: str) -> None:
    with pytest.raises(AnswerError, match=re.escape(reason)):
        resolve(CATALOG, {**given_for(CATALOG, []), **SPLIT, **beside, **settings(way)})
