"""What `scaffold doctor` says: of made-up machines, and of this one."""

import ast
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from scaffold.answers.catalog import Catalog, Value
from scaffold.answers.check import parse_setting
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import Answers, resolve
from scaffold.machine.case import OK, PROBLEM, Finding
from scaffold.machine.examine import examine
from scaffold.machine.look import Address, Device, Machine, Question, look
from scaffold.project.answers import complete
from support.command_line import Cli, run_cli
from support.computers import APPLE, GIB, H100, NEEDS, PLAIN, T4, said, with_gpus
from support.files import add_answers, replace_in, write_files
from support.paths import REPOSITORY

A100 = Device("cuda", "NVIDIA A100", 40 * GIB, 39 * GIB, (8, 0), True)

CPU_TORCH = {"cuda": "", "hip": "", "xpu": ""}


def without_devices(**changes: object) -> Machine:
    return replace(PLAIN, **changes)  # type: ignore[arg-type]


def hardware(**answers: Value) -> Answers:
    """Complete answers; `a__b` stands for the key a.b, others are in the table of the hardware."""
    given = {
        key.replace("__", ".") if "__" in key else f"hardware.{key}": value
        for key, value in answers.items()
    }
    return resolve(load_catalog(), {"project.name": "example", **given})


def fine(findings: list[Finding], check: str) -> list[str]:
    return [found.found for found in findings if found.mark == OK and found.check == check]


def test_a_machine_that_fits() -> None:
    findings = examine(hardware(num_processes=8, mixed_precision="bf16"), with_gpus(8), NEEDS)
    assert said(findings) == []
    assert [(finding.check, finding.found) for finding in findings] == [
        ("python", "3.12.4, /env/bin/python"),
        ("packages", "accelerate 1.15.0, torch 2.13.0"),
        ("torch", "2.13.0, built for CUDA 13.0"),
        ("launcher", "accelerate"),
        ("driver", "580.65.06 supports CUDA up to 13.0, and torch is built for 13.0"),
        ("devices", "8 x NVIDIA H100 for 8 processes"),
        ("memory", "8 x 80.0 GiB, 79.0 GiB free"),
        ("precision", "bf16"),
        ("cpu", "64 cores for 8 processes"),
        ("/dev/shm", "128.0 GiB free for 8 processes"),
        ("disk", "900.0 GiB free for /work/runs"),
    ]


def test_only_what_matters_is_told() -> None:
    checks = [finding.check for finding in examine(hardware(use_cpu=True), with_gpus(8), NEEDS)]
    assert checks == ["python", "packages", "torch", "cpu", "memory", "disk"]


def test_one_process_takes_one_device_and_says_how_to_take_all() -> None:
    [finding] = [row for row in examine(hardware(), with_gpus(8), NEEDS) if row.check == "devices"]
    assert (finding.mark, finding.found) == (OK, "8 x NVIDIA H100 for 1 process")
    several = "hardware.distributed_type=MULTI_GPU --set hardware.num_processes=8"
    assert finding.change == f"to use all: scaffold update --set {several}"
    assert fine(examine(hardware(), PLAIN, NEEDS), "devices") == ["none: training runs on the CPU"]


# SET stands for `scaffold update --set hardware.`
DOES_NOT_FIT = [
    (
        *(hardware(num_processes=16, num_machines=2), with_gpus(4)),
        "problem devices: 4 x NVIDIA H100: too few for 8 processes on each machine -> SET "
        "num_processes=8",
    ),
    (
        *(hardware(num_processes=2, sharding="fsdp"), with_gpus(1)),
        "problem devices: 1 x NVIDIA H100: too few for 2 processes -> SET distributed_type=NO "
        "--set hardware.num_processes=1 --set hardware.sharding=none",
    ),
    (
        *(hardware(num_processes=2, mixed_precision="fp16"), PLAIN),
        "problem devices: none for 2 processes: nvidia-smi, which comes with NVIDIA's driver, is "
        "missing -> SET distributed_type=MULTI_CPU --set hardware.mixed_precision=bf16",
    ),
    (
        hardware(num_processes=2),
        with_gpus(2, devices=(Device("xpu", "Intel Max"),) * 2, built={"xpu": "2025.2"}),
        "problem devices: 2 x Intel Max, but hardware.distributed_type is MULTI_GPU -> SET "
        "distributed_type=MULTI_XPU --set hardware.num_processes=2",
    ),
    (
        hardware(num_processes=2),
        with_gpus(8, devices=(H100,), environment={"CUDA_VISIBLE_DEVICES": "0"}),
        "problem devices: 1 x NVIDIA H100: too few for 2 processes -> unset CUDA_VISIBLE_DEVICES",
    ),
    (
        hardware(num_processes=2),
        with_gpus(8, devices=(H100,), environment={"CUDA_VISIBLE_DEVICES": "0"}),
        "warning environment: CUDA_VISIBLE_DEVICES=0 hides 7 of 8 GPUs -> unset "
        "CUDA_VISIBLE_DEVICES",
    ),
    (
        *(hardware(num_processes=2, gpu_ids="2,5"), with_gpus(4)),
        "problem devices: there is no 5: this machine has 4, numbered from 0 -> SET gpu_ids=all",
    ),
    (
        *(hardware(num_processes=4, gpu_ids="0,1"), with_gpus(4)),
        "problem devices: 0,1 of 4: too few for 4 processes -> SET gpu_ids=all",
    ),
    (
        *(hardware(distributed_type="MULTI_NPU", num_processes=2), PLAIN),
        "problem devices: none, because torch_npu is not installed -> install torch_npu as its "
        "vendor describes; or train on the CPU: SET distributed_type=MULTI_CPU",
    ),
    (
        *(hardware(distributed_type="XLA"), without_devices(modules=("torch_xla",))),
        "warning devices: torch_xla is installed; its devices can't be counted here -> ",
    ),
    (
        *(hardware(), with_gpus(1, devices=(), built=CPU_TORCH)),
        "problem driver: 1 x NVIDIA H100, but this torch is built for the CPU -> install torch "
        "for CUDA 13.0 (https://pytorch.org/get-started/locally); or train on the CPU: SET "
        "use_cpu=true",
    ),
    (
        hardware(num_processes=2),
        with_gpus(2, devices=(), driver="470.82", driver_cuda="11.4", gpus=("Tesla T4",) * 2),
        "problem driver: 470.82 supports CUDA up to 11.4, but torch is built for 13.0 -> install "
        "a newer driver, or torch for CUDA 11.4 (https://pytorch.org/get-started/locally); or "
        "train on the CPU: SET distributed_type=MULTI_CPU",
    ),
    (
        *(hardware(), with_gpus(1, devices=(), note="CUDA unknown error")),
        "problem driver: 1 x NVIDIA H100, but torch sees none: CUDA unknown error -> repair "
        "NVIDIA's driver; or train on the CPU: SET use_cpu=true",
    ),
    (
        *(hardware(), without_devices(driver_error="couldn't communicate with the NVIDIA driver")),
        "problem driver: nvidia-smi fails: couldn't communicate with the NVIDIA driver -> repair "
        "NVIDIA's driver; or train on the CPU: SET use_cpu=true",
    ),
    (
        hardware(),
        with_gpus(1, Device("cuda", "Tesla V100", 16 * GIB, 16 * GIB, (7, 0), False)),
        "problem devices: 0, Tesla V100, is an sm_70, but this torch is built for sm_75 sm_80 "
        "sm_86 sm_90 sm_100 compute_120 -> install another torch "
        "(https://pytorch.org/get-started/locally)",
    ),
    (
        hardware(num_processes=2),
        with_gpus(4, devices=(H100, replace(H100, error="CUDA error: busy"), H100, H100)),
        "problem devices: 1, NVIDIA H100, can't be used: CUDA error: busy -> nvidia-smi shows "
        "what uses them; or SET gpu_ids=0,2",
    ),
    (
        hardware(num_processes=2),
        with_gpus(4, devices=(replace(H100, free=GIB), H100, H100, H100)),
        "warning memory: 0 has 1.0 GiB of 80.0 GiB free: something else is using it -> nvidia-smi "
        "shows what uses them; or SET gpu_ids=1,2",
    ),
    (
        *(hardware(num_processes=2), with_gpus(2, devices=(H100, replace(H100, free=2**20)))),
        "warning memory: 1 has 1 MiB of 80.0 GiB free: something else is using it -> nvidia-smi "
        "shows what uses them",
    ),
    (
        *(hardware(), with_gpus(2, devices=(replace(H100, free=GIB), H100))),
        "warning memory: 0 has 1.0 GiB of 80.0 GiB free: something else is using it -> nvidia-smi "
        "shows what uses them; or CUDA_VISIBLE_DEVICES=1 python train.py",
    ),
    (
        *(hardware(mixed_precision="bf16"), with_gpus(1, T4)),
        "warning precision: bf16 is slow on 1 x Tesla T4, where it is only emulated -> SET "
        "mixed_precision=fp16",
    ),
    (
        *(hardware(mixed_precision="fp8", num_processes=2), with_gpus(2, A100)),
        "problem precision: no fp8 on 2 x NVIDIA A100: it needs Ada, Hopper or newer GPUs -> SET "
        "mixed_precision=bf16",
    ),
    (
        hardware(mixed_precision="fp8"),
        with_gpus(1, Device("cuda", "AMD MI300", bf16=True), built={"hip": "6.4"}),
        "warning precision: it is not known whether 1 x AMD MI300 can compute in fp8 -> ",
    ),
    (
        *(hardware(mixed_precision="fp8", fp8__backend="msamp"), with_gpus(1)),
        "problem precision: msamp is not installed -> install MS-AMP, or scaffold update --set "
        "fp8.backend=ao",
    ),
    (
        *(hardware(mixed_precision="fp16"), PLAIN),
        "problem precision: fp16 has no effect on the CPU, which computes in 32 bits -> SET "
        "mixed_precision=no",
    ),
    (
        *(hardware(mixed_precision="fp8"), PLAIN),
        "problem precision: fp8 needs a GPU, but training runs on the CPU -> SET "
        "mixed_precision=no",
    ),
    (
        *(hardware(mixed_precision="bf16", use_cpu=True), without_devices(cpu_bf16=False)),
        "warning precision: bf16 is slower than 32 bits on this CPU, which has no bf16 "
        "instructions -> SET mixed_precision=no",
    ),
    (
        hardware(mixed_precision="bf16"),
        without_devices(devices=(APPLE,), packages={"torch": "2.5.1"}),
        "problem precision: bf16 on Apple silicon needs torch 2.6 or newer, but this is 2.5.1 -> "
        "python -m pip install 'torch>=2.6'",
    ),
    (
        *(hardware(mixed_precision="bf16"), without_devices(devices=(replace(APPLE, bf16=False),))),
        "problem precision: bf16 on Apple silicon needs macOS 14 -> SET mixed_precision=fp16",
    ),
    (
        *(hardware(num_processes=4, use_cpu=True), without_devices(cores=2)),
        "warning cpu: 2 cores for 4 processes -> SET num_processes=2",
    ),
    (
        *(hardware(num_processes=2, training__num_workers=8), with_gpus(2, cores=12)),
        "warning cpu: 12 cores for 2 processes with 16 data workers -> scaffold update --set "
        "training.num_workers=6",
    ),
    (
        *(hardware(num_processes=4, use_cpu=True), without_devices(memory=3 * GIB)),
        "warning memory: only 3.0 GiB of main memory is free for 4 processes -> close other "
        "programs",
    ),
    (
        *(hardware(num_processes=8, training__num_workers=4), with_gpus(8, shared=2**26)),
        "warning /dev/shm: 64 MiB free for 32 data workers -> in a container: docker run "
        "--shm-size=5g; or scaffold update --set training.num_workers=0",
    ),
    (
        *(hardware(), without_devices(disk=GIB)),
        "warning disk: 1.0 GiB free for /work/runs -> use another folder: --output-dir FOLDER; or "
        "scaffold update --set training.keep_checkpoints=1",
    ),
    (
        *(hardware(), without_devices(disk=2**20)),
        "problem disk: 1 MiB free for /work/runs -> use another folder: --output-dir FOLDER; or "
        "scaffold update --set training.keep_checkpoints=1",
    ),
    (
        *(hardware(), without_devices(writable=False)),
        "problem disk: /work/runs is not writable -> use another folder: --output-dir FOLDER",
    ),
    (
        *(hardware(), without_devices(version="3.10.2")),
        "problem python: 3.10.2, /env/bin/python; pyproject.toml requires >=3.11 -> create an "
        "environment with Python >=3.11",
    ),
    (
        *(hardware(), without_devices(version="", unknown={"python": "RuntimeError: it ended"})),
        "problem python: RuntimeError: it ended -> ",
    ),
    (
        *(hardware(), without_devices(packages={"torch": "2.1.0+cpu"})),
        "problem packages: not installed: accelerate -> python -m pip install -e .",
    ),
    (
        *(hardware(), without_devices(packages={"torch": "2.1.0+cpu"})),
        "problem packages: torch 2.1.0+cpu; pyproject.toml requires >=2.13 -> python -m pip "
        "install 'torch>=2.13'",
    ),
    (
        *(hardware(), without_devices(torch_error="OSError: libcudnn.so.9: no such file")),
        "problem torch: can't be used: OSError: libcudnn.so.9: no such file -> python -m pip "
        "install --force-reinstall torch",
    ),
    (
        *(hardware(enable_cpu_affinity=True, num_processes=2), with_gpus(2)),
        "problem packages: enable_cpu_affinity needs nvidia-ml-py, which is not installed -> "
        "python -m pip install nvidia-ml-py, or SET enable_cpu_affinity=false",
    ),
    (
        *(hardware(dynamo_backend="inductor"), without_devices(commands={}, headers=False)),
        "problem compiler: torch.compile can't compile without g++ and Python.h -> on Debian and "
        "Ubuntu: apt-get install g++ python3-dev; or SET dynamo_backend=no",
    ),
    (
        *(hardware(sharding="deepspeed"), with_gpus(1, commands={"g++": ""})),
        "warning compiler: DeepSpeed compiles its GPU code with nvcc, which is not on the PATH -> "
        "install the CUDA 13.0 toolkit",
    ),
    (
        *(hardware(num_processes=8), with_gpus(8, commands={})),
        "problem launcher: not on the PATH: accelerate -> python -m pip install -e .",
    ),
    (
        *(hardware(num_processes=8), with_gpus(8, commands={"accelerate": "/usr/bin/python3"})),
        "warning launcher: accelerate on the PATH uses another Python: /usr/bin/python3 -> python "
        "-m pip install -e .",
    ),
    (
        *(hardware(num_processes=8, launcher="slurm"), without_devices(commands={})),
        "problem launcher: not on the PATH: sbatch, srun -> run scaffold where sbatch is "
        "installed, or SET launcher=torchrun",
    ),
    (
        *(hardware(launcher="sagemaker"), PLAIN),
        "problem launcher: sagemaker is not installed -> python -m pip install sagemaker",
    ),
    (
        hardware(num_processes=2, distributed_type="MULTI_CPU", mpirun_hostfile="hosts"),
        without_devices(commands={"accelerate": ""}),
        "problem launcher: not on the PATH: mpirun -> install mpirun",
    ),
    (
        {**hardware(distributed_type="XLA"), "tpu.tpu_use_cluster": True},
        without_devices(commands={"accelerate": ""}),
        "problem launcher: not on the PATH: gcloud -> install gcloud",
    ),
    (
        hardware(),
        without_devices(environment={"ACCELERATE_USE_FSDP": "true", "FSDP_VERSION": "2"}),
        "warning environment: ACCELERATE_USE_FSDP=true FSDP_VERSION=2: this changes Accelerate's "
        "behavior -> unset ACCELERATE_USE_FSDP FSDP_VERSION",
    ),
    (
        *(hardware(), without_devices(environment={"RANK": "0", "WORLD_SIZE": "2"})),
        "problem environment: RANK=0 WORLD_SIZE=2: python train.py would wait for other processes "
        "-> unset RANK WORLD_SIZE",
    ),
    (
        *(hardware(), without_devices(modules=("torch_xla",))),
        "warning environment: torch_xla is installed, and Accelerate uses it whenever it finds it "
        "-> export USE_TORCH_XLA=false",
    ),
]


@pytest.mark.parametrize(("answers", "machine", "expected"), DOES_NOT_FIT)
def test_what_does_not_fit(answers: Answers, machine: Machine, expected: str) -> None:
    expected = expected.replace("SET ", "scaffold update --set hardware.")
    assert expected in said(examine(answers, machine, NEEDS))


@pytest.mark.parametrize(
    ("answers", "machine", "check"),
    [
        (hardware(num_processes=2), with_gpus(2, environment={"RANK": "0"}), "environment"),
        (hardware(use_cpu=True), with_gpus(1, environment={"ACCELERATE_USE_CPU": "1"}), ""),
        (hardware(), with_gpus(1, environment={"ACCELERATE_LOG_LEVEL": "info"}), ""),
        (hardware(), without_devices(environment={"WORLD_SIZE": "1"}), ""),
        (hardware(), with_gpus(1, environment={"CUDA_VISIBLE_DEVICES": "3"}), ""),
        (hardware(mixed_precision="fp16"), without_devices(devices=(APPLE,)), "precision"),
        (hardware(mixed_precision="bf16"), without_devices(cpu_bf16=None), "precision"),
        (hardware(), without_devices(disk=None, memory=None, shared=None), ""),
        # later GPUs run what is compiled late, and those of a major version what is for an older
        (hardware(), with_gpus(1, replace(H100, capability=(13, 0))), "devices"),
        (hardware(), with_gpus(1, replace(H100, capability=(8, 9))), "devices"),
        # a driver runs newer CUDA of its major version, and what torch sees, it sees
        (hardware(), with_gpus(1, driver_cuda="12.2", built={"cuda": "12.8"}), "driver"),
        (hardware(), with_gpus(1, driver_cuda="12.2"), "driver"),
        (hardware(num_processes=2), with_gpus(2, commands={"accelerate": "/env/bin/python3"}), ""),
    ],
)
def test_no_false_alarm(answers: Answers, machine: Machine, check: str) -> None:
    assert said(examine(answers, machine, NEEDS), check) == []


MEETING = {
    "free": [],
    "elsewhere": [],
    "unresolved": [
        "problem address: main can't be resolved -> "
        "scaffold update --set hardware.main_process_ip=ADDRESS"
    ],
    "taken": [
        "problem address: port 29500 of main is in use -> "
        "scaffold update --set hardware.main_process_port=40000, on all machines"
    ],
}


@pytest.mark.parametrize("state", MEETING)
def test_where_several_machines_meet(state: str) -> None:
    answers = hardware(num_machines=2, num_processes=4, main_process_ip="main")
    findings = examine(answers, with_gpus(2, address=Address(state, free_port=40000)), NEEDS)
    assert said(findings) == MEETING[state]
    assert len(fine(findings, "address")) == (not MEETING[state])
    usual = examine(answers, with_gpus(2, address=Address("free", loopback=True)), NEEDS)
    [text] = said(usual)
    assert text.startswith("warning address: main is the local address of each machine")


def test_jobs_that_run_elsewhere() -> None:
    """What a job brings is not asked of the machine that sends it."""
    answers = hardware(num_processes=8, launcher="slurm")
    login = without_devices(environment={})
    assert said(examine(answers, login, NEEDS)) == [
        "warning machine: jobs run on other machines: their devices and memory are not checked -> "
        "run it inside a job: srun scaffold doctor"
    ]
    inside = replace(login, environment={"SLURM_JOB_ID": "7"})
    [text] = said(examine(answers, inside, NEEDS))
    assert text.startswith("problem devices:")
    for launcher in ("trainjob", "pytorchjob"):
        answers = hardware(num_processes=8, launcher=launcher)
        bare = Machine(commands={"kubectl": ""})
        [text] = said(examine(answers, bare, NEEDS))
        assert text.startswith("warning machine:")
        pod = with_gpus(8, environment={"KUBERNETES_SERVICE_HOST": "10.0.0.1", "RANK": "0"})
        assert said(examine(answers, replace(pod, commands={}), NEEDS)) == []


def test_a_check_that_fails_does_not_end_the_others() -> None:
    findings = examine(hardware(), with_gpus(1), replace(NEEDS, python="three"))
    [text] = said(findings)
    assert text.startswith("warning python: the check failed: InvalidSpecifier")
    assert fine(findings, "disk")
    unknown = without_devices(unknown={"disk": "OSError: gone"})
    [text] = said(examine(hardware(), unknown, NEEDS))
    assert text == "warning disk: can't be determined: OSError: gone -> "


ANSWERS = [
    hardware(**more, **{"mixed_precision": precision})
    for precision in ("no", "bf16", "fp16", "fp8")
    for more in (
        {},
        {"num_processes": 2},
        {"num_processes": 8, "gpu_ids": "0,1,2,3,4,5,6,7"},
        {"num_processes": 8, "num_machines": 4},
        {"num_processes": 8, "sharding": "fsdp"},
        {"num_processes": 4, "sharding": "deepspeed", "launcher": "torchrun"},
        {"num_processes": 8, "training__num_workers": 16, "dynamo_backend": "inductor"},
    )
]
MACHINES = [
    PLAIN,
    without_devices(built=CPU_TORCH, cores=1, cpu_bf16=False),
    without_devices(commands={}, headers=False, disk=2**20, shared=2**20),
    without_devices(driver_error="it failed"),
    without_devices(devices=(replace(APPLE, bf16=False),)),
    without_devices(devices=(Device("xpu", "Intel Max", bf16=True),) * 4),
    with_gpus(1, T4),
    with_gpus(4, A100),
    with_gpus(8, cores=4),
    with_gpus(8, devices=(replace(H100, free=GIB), *(H100,) * 7)),
    with_gpus(8, devices=(H100,), environment={"CUDA_VISIBLE_DEVICES": "0"}),
    with_gpus(2, devices=(), built=CPU_TORCH),
    with_gpus(2, devices=(), driver_cuda="11.4"),
]


def changed(catalog: Catalog, answers: Answers, change: str) -> Answers | None:
    """The answers after the first command to update them, None if there is none."""
    commands = re.findall(r"scaffold update((?: --set [^ ;,]+(?:,[0-9]+)*)+)", change)
    if not commands:
        return None
    settings = re.findall(r"--set (\S+)", commands[0])
    fresh = dict(parse_setting(catalog, setting.rstrip(",;")) for setting in settings)
    return resolve(catalog, complete(catalog, fresh, answers), fresh=fresh)


@pytest.mark.parametrize("number", range(len(MACHINES)))
def test_what_it_says_to_change_is_allowed_and_mends_it(catalog: Catalog, number: int) -> None:
    machine, seen = MACHINES[number], 0
    for answers in ANSWERS:
        for finding in examine(answers, machine, NEEDS):
            after = changed(catalog, answers, finding.change)
            if after is None:
                continue
            seen += 1
            rest = [(row.check, row.found) for row in examine(after, machine, NEEDS)]
            told = (finding.check, finding.found)
            assert told not in rest or "keep_checkpoints" in finding.change, finding
    assert seen


@pytest.fixture
def project(tmp_path: Path, cli: Cli) -> Path:
    assert cli("new", tmp_path / "p", "--yes").code == 0
    return tmp_path / "p"


def on_path(*folders: Path, **more: str) -> dict[str, str]:
    """An environment in which `python` is the Python of these tests."""
    first = [*folders, Path(sys.executable).parent]
    return {"PATH": os.pathsep.join(map(str, [*first, os.environ["PATH"]])), **more}


def write_command(folder: Path, name: str, text: str) -> Path:
    write_files(folder, {name: f"#!/bin/sh\n{text}\n"})
    (folder / name).chmod(0o755)
    return folder


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_the_command_on_this_machine(project: Path) -> None:
    result = run_cli("doctor", "--json", project, cwd=project, env=on_path())
    findings = json.loads(result.stdout)["findings"]
    found = {finding["check"]: finding for finding in findings}
    version = ".".join(map(str, sys.version_info[:3]))
    assert found["python"]["found"].startswith(version)
    assert found["torch"]["mark"] == OK, found
    assert found["packages"]["mark"] == OK, found
    assert {"devices", "disk"} <= set(found) or "driver" in found
    problems = [finding for finding in findings if finding["mark"] == PROBLEM]
    assert result.returncode == bool(problems), result
    assert all(set(finding) == {"mark", "check", "found", "change"} for finding in findings)
    text = run_cli("doctor", cwd=project, env=on_path())
    assert text.returncode == result.returncode
    assert text.stdout.startswith(f"ok       python: {version}")
    assert not (project / "runs").exists() and not (project / "__pycache__").exists()


def test_the_command_asks_for_a_project(tmp_path: Path, cli: Cli, project: Path) -> None:
    result = cli("doctor", tmp_path)
    assert result.code == 2 and "is not a scaffold project" in result.err
    assert cli("doctor", tmp_path / "none").err.endswith("there is no such folder.\n")
    add_answers(project / "scaffold.toml", '[hardware]\nmixed_precision = "fp17"\n')
    result = cli("doctor", project)
    assert result.code == 2 and "scaffold.toml" in result.err and "'fp17'" in result.err


BROKEN = {
    "raise OSError('libcudart.so.13 is missing')": "OSError: libcudart.so.13 is missing",
    "raise SystemExit(3)": "SystemExit: 3",
    "import os; os.kill(os.getpid(), 11)": "it ended with SIGSEGV: {}",
    "import os; os.write(2, b'no luck'); os._exit(9)": "it ended with status 9: no luck",
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_torch_that_can_not_be_imported(tmp_path: Path, project: Path, text: str) -> None:
    torch = f"print('{{}}', flush=True)\n{text}\n"
    modules = write_files(tmp_path / "modules", {"torch.py": torch})
    result = run_cli("doctor", project, cwd=project, env=on_path(PYTHONPATH=str(modules)))
    assert result.returncode == 1
    assert f"problem  torch: can't be used: {BROKEN[text]}\n" in result.stdout
    assert "disk: " in result.stdout and result.stderr == ""


TORCH = """
import types
version = types.SimpleNamespace(cuda="13.0", hip=None)
class cuda:
    is_available = lambda: True
    device_count = lambda: 2
    get_arch_list = lambda: ["sm_80", "sm_90"]
    get_device_name = lambda number: "NVIDIA H100\\x1b[31m"
    get_device_capability = lambda number: (9, 0)
    def mem_get_info(number):
        if number:
            raise RuntimeError("CUDA error: all devices are busy\\nmore")
        return 70 * 2**30, 80 * 2**30
"""
SMI = """
if [ "$1" = -L ]; then
    for number in 0 1 2; do echo "GPU $number: NVIDIA H100 (UUID: GPU-$number)"; done
else
    echo "| NVIDIA-SMI 580.65.06   Driver Version: 580.65.06   CUDA Version: 13.0  |"
fi
"""


def test_the_devices_that_torch_sees(tmp_path: Path, project: Path, cli: Cli) -> None:
    """Found through a stand-in for torch, and one for nvidia-smi."""
    modules = write_files(tmp_path / "modules", {"torch.py": TORCH})
    commands = write_command(tmp_path / "commands", "nvidia-smi", SMI)
    env = on_path(commands, PYTHONPATH=str(modules), CUDA_VISIBLE_DEVICES="0,1")
    settings = ("--num-processes", "2", "--mixed-precision", "bf16")
    assert cli("update", project, *settings).code == 0
    result = run_cli("doctor", project, cwd=project, env=env)
    assert result.returncode == 1, result
    rows = result.stdout.splitlines()
    driver = "580.65.06 supports CUDA up to 13.0, and torch is built for 13.0"
    assert f"ok       driver: {driver}" in rows
    assert "ok       devices: 2 x NVIDIA H100?[31m for 2 processes" in rows
    assert "ok       memory: 1 x 80.0 GiB, 70.0 GiB free" in rows
    assert "ok       environment: CUDA_VISIBLE_DEVICES=0,1 hides 1 of 3 GPUs" in rows
    busy = "can't be used: RuntimeError: CUDA error: all devices are busy"
    assert f"problem  devices: 1, NVIDIA H100?[31m, {busy}" in rows
    assert re.search(r"^\d problems?( and \d warnings?)?\.$", rows[-1])


def test_a_package_that_can_not_be_imported(tmp_path: Path, project: Path) -> None:
    """Also one that another file of the project imports. A crash names its package."""
    texts = {
        "torch.py": TORCH,
        "accelerate.py": "",
        "torchvision.py": "raise RuntimeError('operator torchvision::nms is missing')",
        "sklearn.py": "import os; os.kill(os.getpid(), 11)",
        "tqdm.py": "tqdm = 1",
    }
    modules = write_files(tmp_path / "modules", texts)
    replace_in(project / "pyproject.toml", '"tqdm>=4.66",', '"tqdm>=4.66", "torchvision",')
    text = (project / "model.py").read_text()
    (project / "model.py").write_text(f"from torchvision import models\nimport nowhere\n{text}")
    env = on_path(PYTHONPATH=os.pathsep.join(map(str, (modules, REPOSITORY))))
    result = run_cli("doctor", "--json", project, cwd=project, env=env)
    assert result.returncode == 1
    findings = json.loads(result.stdout)["findings"]
    found = {row["found"]: row["change"] for row in findings if row["mark"] == PROBLEM}
    text = "torchvision can't be imported: RuntimeError: operator torchvision::nms is missing"
    assert "same index as torch" in found[text]
    change = found["sklearn can't be imported: it ended with SIGSEGV: no output"]
    assert change == "python -m pip install --force-reinstall scikit-learn"
    assert not any(text.startswith(("tqdm", "torch can't")) for text in found)


def test_a_driver_that_fails(tmp_path: Path, project: Path) -> None:
    commands = write_command(tmp_path / "commands", "nvidia-smi", "echo it is broken; exit 9")
    modules = write_files(tmp_path / "modules", {"torch.py": TORCH.replace("True", "False")})
    env = on_path(commands, PYTHONPATH=str(modules))
    result = run_cli("doctor", project, cwd=project, env=env)
    assert "problem  driver: nvidia-smi fails: it is broken\n" in result.stdout


def test_nothing_of_the_project_is_run(project: Path) -> None:
    trap = "from pathlib import Path\nPath(__file__).with_suffix('.ran').touch()\n"
    for name in ("torch", "json", "accelerate", "sitecustomize", "train"):
        (project / f"{name}.py").write_text(trap)
    env = on_path(PYTHONPATH=os.pathsep.join(["", ".", str(project)]))
    code = "import pathlib; from scaffold.commands.doctor import show_fit"
    code += "; show_fit(pathlib.Path(sys.argv[1]), True)"
    # -P, -I: this process itself must not look there
    run = [sys.executable, "-I", "-c", f"import sys; sys.path.append({str(REPOSITORY)!r}); {code}"]
    env = {**os.environ, **env}
    result = subprocess.run([*run, project], cwd=project, env=env, capture_output=True, text=True)
    assert '"findings"' in result.stdout, result.stderr
    assert list(project.glob("*.ran")) == []


def test_what_the_owner_changed_counts(tmp_path: Path, project: Path) -> None:
    """Dependencies and the folder of runs are read from the files as they are."""
    env = on_path(PYTHONPATH=str(write_files(tmp_path / "modules", {"torch.py": TORCH})))
    replace_in(project / "pyproject.toml", '"tqdm>=4.66",', '"no-such-thing-here>=2", "tqdm<1",')
    replace_in(project / "config.py", 'Path(f"runs/', 'Path(f"elsewhere/runs/')
    add_answers(project / "scaffold.toml", '[hardware]\nmixed_precision = "fp16"\n')
    result = run_cli("doctor", project, cwd=project, env=env)
    assert result.returncode == 1
    assert "not installed: " in result.stdout and "no-such-thing-here" in result.stdout
    assert f"free for {project}/elsewhere/runs\n" in result.stdout
    assert "warning  answers: scaffold.toml has changes" in result.stdout
    (project / "pyproject.toml").write_text("[project]\ndependencies = 3\n")
    result = run_cli("doctor", project, cwd=project, env=env)
    assert "warning  packages: pyproject.toml can't be read: " in result.stdout
    (project / "pyproject.toml").unlink()
    result = run_cli("doctor", project, cwd=project, env=env)
    assert "there is no pyproject.toml" in result.stdout


def test_which_machine_an_address_belongs_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = write_command(tmp_path / "commands", "python", "exit 1")
    monkeypatch.setenv("PATH", str(commands), prepend=os.pathsep)

    def ask(host: str, port: int) -> Address | None:
        return look(Question(tmp_path, tmp_path, address=(host, port))).address

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        port = taken.getsockname()[1]
        found = ask("127.0.0.1", port)
        assert found and (found.state, found.loopback) == ("taken", True)
        assert found.free_port not in (0, port)
    assert ask("localhost", port) == Address("free", loopback=True)
    assert ask("203.0.113.7", port) == Address("elsewhere")
    assert ask("no-such-host.invalid", port) == Address("unresolved")


def test_a_fact_that_can_not_be_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = write_command(tmp_path / "commands", "python", "echo nothing of use >&2; exit 4")
    monkeypatch.setenv("PATH", str(commands), prepend=os.pathsep)
    machine = look(Question(tmp_path, tmp_path / "runs"))
    assert machine.unknown["python"].endswith("it ended with status 4: nothing of use")
    assert machine.disk and machine.cores >= 1 and machine.writable


def test_the_probe_is_read_by_an_old_python() -> None:
    probe = (REPOSITORY / "scaffold/machine/probe.py").read_text()
    ast.parse(probe, feature_version=(3, 8))
    assert "scaffold." not in probe


def test_a_variable_of_another_program_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those that matter are read: values of others may be secret."""
    kept = {"RANK": "0", "ACCELERATE_USE_CPU": "true", "HIP_VISIBLE_DEVICES": "1"}
    for name, value in {**kept, "MY_TOKEN": "secret", "AWS_SECRET_ACCESS_KEY": "x"}.items():
        monkeypatch.setenv(name, value)
    found: Mapping[str, str] = look(Question(Path(), Path())).environment
    assert set(kept) <= set(found) and not {"MY_TOKEN", "AWS_SECRET_ACCESS_KEY"} & set(found)
