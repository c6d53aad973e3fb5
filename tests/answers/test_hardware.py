"""Hardware answers: what follows from them, what is refused and why, what is imported."""

import os
import shlex
import subprocess
import tomllib
from itertools import cycle
from pathlib import Path

import pytest
import yaml

from scaffold.answers.accelerate_config import named_options
from scaffold.answers.accelerate_import import (
    ELSEWHERE,
    FIXED,
    RENAMED,
    UNASKED,
    read_accelerate_config,
)
from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.errors import ScaffoldError
from support.command_line import Cli
from support.paths import TEMPLATES


@pytest.mark.parametrize(
    ("given", "value", "key", "expected"),
    [
        ("num_processes", 4, "distributed_type", "MULTI_GPU"),
        ("sharding", "fsdp", "distributed_type", "MULTI_GPU"),
        ("sharding", "fsdp", "num_processes", 2),
        ("sharding", "deepspeed", "distributed_type", "NO"),
        ("num_machines", 4, "num_processes", 4),
        ("distributed_type", "MULTI_GPU", "num_processes", 2),
        ("distributed_type", "XLA", "num_processes", 8),
        ("distributed_type", "MULTI_CPU", "use_cpu", True),
        ("distributed_type", "MULTI_XPU", "use_cpu", False),
    ],
)
def test_what_is_left_open_follows(given: str, value: Value, key: str, expected: Value) -> None:
    answers = resolve(load_catalog(), {"project.name": "example", f"hardware.{given}": value})
    assert answers[f"hardware.{key}"] == expected


# settings, most of them of hardware, and parts of what is said
XLA, MULTI_GPU = "distributed_type=XLA", "distributed_type=MULTI_GPU"
REFUSED = {
    "uneven machines": ("num_machines=2 num_processes=5", "5 processes", "a multiple of 2"),
    "a rank too high": ("num_machines=2 machine_rank=2", "hardware.machine_rank", "0 to 1"),
    "fp16 on the CPU": ("use_cpu=true mixed_precision=fp16", "fp16", "no effect on the CPU"),
    "fp8 on the CPU": ("use_cpu=true mixed_precision=fp8", "fp8", "needs a GPU"),
    "fp8 on Ascend": ("distributed_type=MULTI_NPU mixed_precision=fp8", "fp8", "MULTI_NPU"),
    "bf16 on TPUs": (f"{XLA} mixed_precision=bf16", "hardware.mixed_precision", "TPU"),
    "a compiler on TPUs": (f"{XLA} dynamo_backend=inductor", "hardware.dynamo_backend", "TPU"),
    "a compiler for inference": ("dynamo_backend=ofi", "ofi is for inference only", "inductor"),
    "a compiler that Accelerate misspells": (
        *("dynamo_backend=torchxla_trace_once", "torchxla_trace_once is for inference only"),
    ),
    "FSDP on one device": ("distributed_type=NO sharding=fsdp", "several devices", "MULTI_GPU"),
    "FSDP on the CPU": ("distributed_type=MULTI_CPU sharding=fsdp", "hardware.distributed_type"),
    "FSDP on Neuron": ("distributed_type=MULTI_NEURON sharding=fsdp", "fsdp does not run on"),
    "DeepSpeed on TPUs": (f"{XLA} sharding=deepspeed", "sharding", "hardware.distributed_type"),
    "FSDP with two optimizers": (f"{MULTI_GPU} sharding=fsdp project.task=gan", "sharding", "gan"),
    "TPU machines that are no cluster": (
        *(f"{XLA} tpu.tpu_use_cluster=true tpu.tpu_vm=one,two", "others would train on their own"),
    ),
    "a notebook for a TPU cluster": (
        f"{XLA} tpu.tpu_use_cluster=true launcher=notebook",
        "a notebook starts the TPU cores of one machine",
    ),
    "Megatron-LM": (f"{MULTI_GPU} sharding=megatron_lm", "its own models", "none, fsdp, deepspeed"),
    "too few processes for the grid": (
        f"{MULTI_GPU} sharding=fsdp num_processes=8 parallelism.enabled=true "
        "parallelism.dp_replicate_size=2 parallelism.dp_shard_size=2",
        "parallelism.dp_shard_size",
        "is 4, but hardware.num_processes is 8",
    ),
    "SageMaker on several GPUs": (f"{MULTI_GPU} launcher=sagemaker", "sagemaker.distributed_type"),
    "a notebook on several machines": ("num_machines=2 launcher=notebook", "one machine"),
    "torchrun on TPUs": (f"{XLA} launcher=torchrun", "torchrun can't start TPU cores"),
    "mpirun by SLURM": (
        "distributed_type=MULTI_CPU mpirun_hostfile=hosts launcher=slurm",
        *("hardware.launcher", "mpirun"),
    ),
    "devices of SLURM": ("launcher=slurm gpu_ids=0", "the cluster chooses the devices"),
    "devices of a TrainJob": ("launcher=trainjob gpu_ids=0", "the cluster chooses the devices"),
    "SLURM without the feature that saves": (
        *("launcher=slurm features.preemption=false", "needs the feature preemption"),
    ),
    "a time": ("launcher=slurm slurm.time=tomorrow", "2-12:00:00"),
    "memory for SLURM": ("launcher=slurm slurm.memory='64 GB'", "64G"),
    "a partition": ("launcher=slurm slurm.partition='a;b'", "a name such as gpu"),
    "a namespace": ("launcher=trainjob kubernetes.namespace=Mine", "lower-case letters"),
    "an image": ("launcher=trainjob kubernetes.image='a b'", "registry.example.com"),
    "memory for Kubernetes": ("launcher=trainjob kubernetes.memory=16GB", "16Gi"),
}


def options_of(settings: str) -> list[str]:
    """Options of the command line, of settings that are of hardware if they name no table."""
    words = shlex.split(settings)
    keys = (word if "." in word.partition("=")[0] else f"hardware.{word}" for word in words)
    return [f"--set={key}" for key in keys]


@pytest.mark.parametrize("label", REFUSED)
def test_what_can_not_work_is_refused_when_answering(label: str, cli: Cli, tmp_path: Path) -> None:
    settings, *reasons = REFUSED[label]
    result = cli("new", tmp_path / "project", "--yes", *options_of(settings))
    assert result.code == 2 and "Traceback" not in result.err
    for reason in reasons:
        assert reason in result.err
    assert not (tmp_path / "project").exists()


def test_other_changes_leave_the_hardware_as_it_was(cli: Cli, tmp_path: Path) -> None:
    project = tmp_path / "project"
    cli("new", project, "--yes", *options_of("distributed_type=MULTI_XPU num_processes=6"))
    for change, processes in (("training.epochs=3", 6), ("num_processes=4", 4)):
        assert cli("update", project, *options_of(change)).code == 0
        text = (project / "scaffold.toml").read_text()
        assert 'distributed_type = "MULTI_XPU"' in text and f"num_processes = {processes}" in text


def test_paths_for_sagemaker_keep_their_capitals(cli: Cli, tmp_path: Path) -> None:
    settings = "launcher=sagemaker sagemaker.sagemaker_inputs_file=Data/Inputs.TSV"
    assert cli("new", tmp_path / "project", "--yes", *options_of(settings)).code == 0
    config = yaml.safe_load((tmp_path / "project/accelerate.yaml").read_text())
    assert config["sagemaker_inputs_file"] == "Data/Inputs.TSV"


def test_the_table_says_how_far_each_choice_was_run() -> None:
    text = (TEMPLATES / "hardware/README.md").read_text()
    names = ("distributed_type", "sharding", "mixed_precision", "launcher")
    for name in names:
        option = load_catalog().settings[f"hardware.{name}"]
        assert len(option.choices) >= 3
        for value in {choice.value for choice in option.choices} - {option.default}:
            assert value.removeprefix("MULTI_") in text, f"{name} {value}"


CLUSTER = [
    "hardware.distributed_type=XLA",
    "tpu.tpu_use_cluster=true",
    "tpu.tpu_name=pod",
    "tpu.tpu_use_sudo=true",
    'tpu.commands=pip list,echo "it\'s $HOME"',
    "tpu.tpu_env=A=1,B=two words",
]
GCLOUD = """#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word"; done > said
"""


def test_a_tpu_cluster_is_started_by_one_command(cli: Cli, tmp_path: Path) -> None:
    """train.sh gives gcloud one command for all machines, in which words stay what they are."""
    project, tools = tmp_path / "a project", tmp_path / "tools"
    options = [part for setting in CLUSTER for part in ("--set", setting)]
    assert cli("new", project, "--yes", "--name", "pod", *options).code == 0
    tools.mkdir()
    (tools / "gcloud").write_text(GCLOUD)
    (tools / "gcloud").chmod(0o755)
    command = ["bash", str(project / "train.sh"), "--output-dir", "runs/a b"]
    path = f"{tools}:{os.environ['PATH']}"
    subprocess.run(command, check=True, cwd=tmp_path, env={"PATH": path})
    said = (project / "said").read_text().splitlines()
    assert said[:-1] == ["compute", "tpus", "tpu-vm", "ssh", "pod", "--worker", "all", "--command"]
    folder, *steps, train = said[-1].split(" && ")
    assert shlex.split(folder) == ["cd", str(project)]
    assert steps == ["pip list", 'echo "it\'s $HOME"', "export A=1", "export 'B=two words'"]
    assert train.startswith('sudo --preserve-env env "PATH=$PATH" accelerate launch ')
    assert shlex.split(train)[-5:] == [
        "--tpu", "--no_tpu_cluster", "train.py", "--output-dir", "runs/a b",
    ]  # fmt: skip


def test_a_tpu_takes_the_torch_of_its_package(cli: Cli, tmp_path: Path) -> None:
    options = ["--distributed-type", "XLA", "--set", "image_classification.dataset=mnist"]
    assert cli("new", tmp_path / "project", "--yes", *options).code == 0
    text = (tmp_path / "project/pyproject.toml").read_text()
    rows = [row for row in tomllib.loads(text)["project"]["dependencies"] if "torch" in row]
    assert rows == ["torch==2.9.*", "torch_xla[tpu]==2.9.*", "torchvision>=0.24"]


@pytest.mark.parametrize("kind", ["HPU", "NPU", "MLU", "SDAA", "MUSA", "NEURON"])
def test_a_maker_s_own_torch_is_left_in_place(kind: str, cli: Cli, tmp_path: Path) -> None:
    given = ["--distributed-type", f"MULTI_{kind}"]
    assert cli("new", tmp_path / "project", "--yes", *given).code == 0
    text = (tmp_path / "project/pyproject.toml").read_text()
    assert '"torch>=2.9"' in text and text.count('"torch') == 1


FILE = """
compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
mixed_precision: bf16
num_processes: 4
"""


def imported(cli: Cli, folder: Path, text: str) -> tuple[int, str]:
    """The status, and what was written or said, of `new` with such a file."""
    file = folder / "accelerate.yaml"
    file.write_text(text)
    result = cli("new", folder / "project", "--yes", "--from-accelerate-config", file)
    if result.code:
        return result.code, result.err
    return 0, (folder / "project/scaffold.toml").read_text()


@pytest.mark.parametrize(
    ("old", "new", "reasons"),
    [
        ("bf16", "fp17", ["hardware.mixed_precision", "'fp17' is not allowed"]),
        ("MULTI_GPU", "NO", ["distributed_type", "a boolean", "'NO'"]),
        ("MULTI_GPU", "MEGATRON_LM\nmegatron_lm_config: {megatron_lm_tp_degree: 2}", ["its own"]),
        ("MULTI_GPU", "MULTI_GPV", ["'MULTI_GPV' is not allowed"]),
        ("LOCAL_MACHINE", "LOCAL", ["compute_environment: 'LOCAL' is not allowed"]),
        ("bf16", "bf16\nuse_cpu: maybe", ["hardware.use_cpu: 'maybe' is not allowed"]),
        (
            *("bf16", "bf16\nparallelism_config: {parallelism_config_sp_size: 2}"),
            ["parallelism_config_sp_size: scaffold has no setting for 2"],
        ),
        (
            *("bf16", "bf16\nparallelism_config: {parallelism_config_tp_size: 2}"),
            ["parallelism_config_tp_size: Accelerate uses 2 with `distributed_type: FSDP` alone"],
        ),
        ("num_processes: 4", "num_process: 4", ["num_process", "did you mean num_processes"]),
        ("bf16", "bf16\nfsdp_config: {fsdp_offload_param: true}", ["config.fsdp_offload_params"]),
        ("num_processes: 4", "num_processes: many", ["hardware.num_processes", "'many'"]),
        ("compute", "[", ["is not valid YAML"]),
        ("distributed_type: MULTI_GPU\n", "", ["distributed_type is missing"]),
        ("bf16", "!!python/object/apply:os.system [id]", ["is not valid YAML"]),
    ],
    ids=str,
)
def test_a_faulty_file_is_refused(
    old: str, new: str, reasons: list[str], cli: Cli, tmp_path: Path
) -> None:
    """Accelerate itself takes some of these without a word."""
    assert FILE.count(old) == 1
    code, said = imported(cli, tmp_path, FILE.replace(old, new))
    assert code == 2
    for reason in reasons:
        assert reason in said
    assert not (tmp_path / "project").exists()


ODD = ["many", "", 9, 10**30, float("nan"), True, [1, [2]], {"a": 1}, "a\nb"]


def test_no_value_of_a_file_is_a_fault_of_ours(tmp_path: Path) -> None:
    """Each key of Accelerate with values that make no sense: taken, or refused by its name."""
    catalog, file = load_catalog(), tmp_path / "accelerate.yaml"
    keys = {option.accelerate for option in named_options(catalog)}
    keys |= {*RENAMED, *ELSEWHERE, *UNASKED, *FIXED}
    assert len(keys) > 90
    kinds = cycle(["MULTI_GPU", "FSDP", "DEEPSPEED", "XLA", "NO"])
    refused = 0
    for key in sorted(keys):
        table, _, name = key.rpartition(".")
        for value in ODD:
            config = {"distributed_type": next(kinds), "num_processes": 4}
            config |= {table: {name: value}} if table else {name: value}
            file.write_text(yaml.safe_dump(config))
            try:
                read_accelerate_config(catalog, str(file), {}, {})
            except ScaffoldError as error:
                assert str(error).startswith(f"{file}: ") and str(error).endswith((".", "?"))
                refused += 1
    assert len(keys) * 6 < refused < len(keys) * len(ODD)


OLDER = """
compute_environment: LOCAL_MACHINE
distributed_type: FSDP
fp16: true
fsdp_config:
  sharding_strategy: 2
  fsdp_backward_prefetch_policy: BACKWARD_POST
  min_num_params: 1000
  auto_wrap_policy: SIZE_BASED_WRAP
num_processes: '2'
"""


OF_LAUNCHER = FILE.replace("bf16", "FP8") + """
fp8_config:
  backend: TE
  fp8_amax_history_len: 16
  amax_compute_algo: max
  override_linear_precision: [true, false, true]
"""


READ = """
mixed_precision = "fp16"
sharding_strategy = "SHARD_GRAD_OP"
backward_prefetch = "BACKWARD_POST"
min_num_params = 1000
num_processes = 2
"""
READ_OF_LAUNCHER = """
backend = "te"
amax_history_length = 16
higher_fprop = true
higher_wgrad = true
"""


@pytest.mark.parametrize(
    ("text", "lines"),
    [(OLDER, READ), (OF_LAUNCHER, READ_OF_LAUNCHER)],
    ids=["older versions", "the launcher"],
)
def test_other_names_are_taken(text: str, lines: str, cli: Cli, tmp_path: Path) -> None:
    """Those that Accelerate 1.15 itself takes, or took once."""
    code, settings = imported(cli, tmp_path, text)
    assert code == 0, settings
    for line in lines.strip().splitlines():
        assert line in settings


def test_a_file_without_a_version_of_fsdp_means_the_first(cli: Cli, tmp_path: Path) -> None:
    text = FILE.replace("MULTI_GPU", "FSDP") + "fsdp_config:\n  fsdp_offload_params: true\n"
    _, settings = imported(cli, tmp_path, text)
    assert 'sharding = "fsdp"' in settings
    assert "version = 1  #" in settings and "offload_params = true" in settings
    config = yaml.safe_load((tmp_path / "project/accelerate.yaml").read_text())
    assert config["fsdp_config"]["fsdp_version"] == 1, "ours says which it is"


def test_what_deepspeed_would_do_is_done_by_the_loop(cli: Cli, tmp_path: Path) -> None:
    text = FILE.replace("MULTI_GPU", "DEEPSPEED") + (
        "deepspeed_config:\n  zero_stage: 1\n  gradient_accumulation_steps: 4\n"
        "  gradient_clipping: 0.5\n"
    )
    _, settings = imported(cli, tmp_path, text)
    assert "zero_stage = 1" in settings
    assert "gradient_accumulation_steps = 4" in settings and "max_norm = 0.5" in settings


def test_the_usual_file_is_found(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where `accelerate config` writes it: with HF_HOME, with XDG_CACHE_HOME, else in the home."""
    places = {
        "HF_HOME": tmp_path / "hub/accelerate",
        "XDG_CACHE_HOME": tmp_path / "cache/huggingface/accelerate",
        "HOME": tmp_path / "home/.cache/huggingface/accelerate",
    }
    for name in places:
        monkeypatch.delenv(name, raising=False)
    for number, (name, place) in enumerate(places.items(), start=3):
        with monkeypatch.context() as patch:
            patch.setenv(name, str(tmp_path / place.relative_to(tmp_path).parts[0]))
            project = tmp_path / f"project{number}"
            option = "--from-accelerate-config"
            missing = cli("new", project, "--yes", option)
            assert missing.code == 2 and "`accelerate config` creates it" in missing.err
            place.mkdir(parents=True)
            text = FILE.replace("num_processes: 4", f"num_processes: {number}")
            (place / "default_config.yaml").write_text(text)
            assert cli("new", project, option, "--yes").code == 0
        assert f"num_processes = {number}" in (project / "scaffold.toml").read_text()


MACHINES = """
compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
machine_rank: 1
main_process_ip: 10.0.0.1
main_process_port: 4000
num_machines: 2
num_processes: 4
rdzv_backend: c10d
same_network: false
"""


def test_a_file_is_taken_over_where_a_cluster_finds_its_machines(cli: Cli, tmp_path: Path) -> None:
    project, file = tmp_path / "project", tmp_path / "accelerate.yaml"
    file.write_text(MACHINES)
    option = ("--from-accelerate-config", file)
    assert cli("new", project, "--yes", *option, "--launcher", "slurm").code == 0
    text = (project / "scaffold.toml").read_text()
    assert "num_machines = 2" in text and "main_process_ip" not in text
    assert cli("update", project, *option).code == 0, "the launcher is that of the project"
    result = cli("update", project, *option, "--launcher", "accelerate")
    assert result.code == 0, result.err
    assert 'main_process_ip = "10.0.0.1"' in (project / "scaffold.toml").read_text()


def test_a_project_takes_over_a_file(cli: Cli, tmp_path: Path) -> None:
    project = tmp_path / "project"
    assert cli("new", project, "--yes", "--epochs", "7").code == 0
    file = tmp_path / "accelerate.yaml"
    file.write_text(FILE)
    result = cli("update", project, "--from-accelerate-config", file, "--num-processes", "2")
    assert result.code == 0, result.err
    text = (project / "scaffold.toml").read_text()
    assert 'distributed_type = "MULTI_GPU"' in text and 'mixed_precision = "bf16"' in text
    assert "num_processes = 2" in text, "what is typed goes before the file"
    assert "epochs = 7" in text
