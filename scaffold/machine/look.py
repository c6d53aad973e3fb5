"""What this machine has: the facts that `scaffold doctor` compares with the answers of a project.

The project's code is never run or imported. What can't be determined keeps its default, and
`unknown` says why.
"""

import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PYTHON_SECONDS, DRIVER_SECONDS = 180, 30  # importing torch from a network disk is slow

# some of them change what Accelerate or torch do
VARIABLES = re.compile(
    r"(ACCELERATE|FSDP|PARALLELISM_CONFIG)_\w+|\w+_VISIBLE_DEVICES|ZE_AFFINITY_MASK|USE_TORCH_XLA|"
    r"(LOCAL_)?RANK|(LOCAL_)?WORLD_SIZE|MASTER_(ADDR|PORT)|CC|CXX|"
    r"SLURM_JOB_ID|KUBERNETES_SERVICE_HOST|TRAINING_JOB_NAME"
)


@dataclass(frozen=True)
class Device:
    """A GPU or another device that torch sees."""

    kind: str  # as torch names it: cuda (NVIDIA and AMD), xpu, mps, hpu, npu ...
    name: str = ""
    memory: int = 0  # bytes, 0: not known
    free: int | None = None  # bytes, None: not known
    capability: tuple[int, int] | None = None  # of NVIDIA's
    bf16: bool | None = None  # whether it computes in bf16, None: not known
    error: str = ""  # why it can't be used


@dataclass(frozen=True)
class Address:
    """Where several machines meet, seen from this one."""

    state: str  # "free" or "taken": the port here; "elsewhere": another machine; "unresolved"
    loopback: bool = False
    free_port: int = 0  # a free port, if this one is taken


@dataclass(frozen=True)
class Machine:
    """What a machine has."""

    # the Python that `python train.py` starts
    python: str = ""  # where it is
    version: str = ""  # empty: it can't be started
    packages: Mapping[str, str] = field(default_factory=dict)  # installed versions, by name
    modules: Collection[str] = ()  # those asked for that are there
    headers: bool = True  # whether Python.h is there
    torch_error: str = ""  # why it can't be imported
    accelerate_error: str = ""
    import_errors: Mapping[str, str] = field(default_factory=dict)  # by the name of the package
    built: Mapping[str, str] = field(default_factory=dict)  # versions that torch was built for
    archs: Sequence[str] = ()  # such as sm_90, that its CUDA code was compiled for
    note: str = ""  # what torch warned of when it looked for devices
    devices: Sequence[Device] = ()

    # NVIDIA's driver
    driver: str = ""
    driver_cuda: str = ""  # the newest CUDA that it can run
    driver_error: str = ""  # what nvidia-smi says where it fails
    gpus: Sequence[str] = ()  # names from nvidia-smi, including those hidden from torch

    cores: int = 1
    memory: int | None = None  # free bytes, like all below
    cpu_bf16: bool | None = None  # whether the CPU has instructions for it
    shared: int | None = None  # in /dev/shm
    output: str = ""  # where runs are written
    disk: int | None = None
    writable: bool = True
    commands: Mapping[str, str] = field(default_factory=dict)  # as `_find_commands` has them
    environment: Mapping[str, str] = field(default_factory=dict)
    address: Address | None = None
    unknown: Mapping[str, str] = field(default_factory=dict)  # why something is not known


@dataclass(frozen=True)
class Question:
    """What to look for."""

    folder: Path  # of the project
    output: Path  # of its runs
    packages: Collection[str] = ()
    modules: Collection[str] = ()
    imports: Sequence[tuple[str, str]] = ()  # the packages that are imported, and the statements
    commands: Collection[str] = ()
    address: tuple[str, int] | None = None  # where several machines meet


def look(question: Question) -> Machine:
    """The facts of this machine."""
    looks: dict[str, Callable[[], dict[str, Any]]] = {
        "python": lambda: _ask_python(question),
        "NVIDIA's driver": _ask_driver,
        "cores": lambda: {"cores": _count_cores()},
        "memory": lambda: {"memory": _free_memory()},
        "CPU": lambda: {"cpu_bf16": _cpu_has_bf16()},
        "/dev/shm": lambda: {"shared": _free_shared_memory()},
        "disk": lambda: _look_at_disk(question.output),
        "commands": lambda: {"commands": _find_commands(question.commands)},
        "environment": lambda: {"environment": _find_variables()},
        "address": lambda: {"address": _find_address(question.address)},
    }
    facts: dict[str, Any] = {}
    unknown: dict[str, str] = {}
    for name, find in looks.items():
        try:
            facts |= find()
        except Exception as error:  # one thing that can't be determined must not hide the others
            unknown[name] = f"{type(error).__name__}: {error}".splitlines()[0]
    return Machine(**facts, unknown=unknown)


# the project's Python


def _ask_python(question: Question) -> dict[str, Any]:
    """What probe.py finds in the Python that the commands of the project's README use."""
    python = shutil.which("python") or sys.executable
    wanted = {
        "packages": sorted(question.packages),
        "modules": sorted(question.modules),
        "imports": list(question.imports),
    }
    probe = Path(__file__).with_name("probe.py").read_text(encoding="utf-8")
    # in an empty folder, so that no torch.py of the project is taken for torch
    with tempfile.TemporaryDirectory() as empty:
        process = subprocess.Popen(
            [python, "-c", probe, json.dumps(wanted)],
            cwd=empty,
            env=_environment_without(question.folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        try:
            out, err = process.communicate(timeout=PYTHON_SECONDS)
            end = _how_it_ended(process.returncode, err)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            end = f"it did not finish within {PYTHON_SECONDS} seconds"
    facts: dict[str, Any] = {"python": python}
    for line in out.splitlines():
        with suppress(ValueError):  # it was stopped in the middle of a line
            facts |= json.loads(line)
    if "version" not in facts:
        raise RuntimeError(f"{python}: {end}")
    importing = facts.pop("importing", "")
    if importing:
        facts["import_errors"] = {**facts.get("import_errors", {}), importing: end}
    elif end:  # an error in the next step
        facts["accelerate_error" if "devices" in facts else "torch_error"] = end
    facts["devices"] = [_device(row) for row in facts.get("devices", [])]
    return facts


def _environment_without(folder: Path) -> dict[str, str]:
    """This process's environment, without import paths into the project."""
    variables = dict(os.environ)
    paths = variables.pop("PYTHONPATH", "").split(os.pathsep)
    paths = [path for path in paths if Path(path).is_absolute()]
    paths = [path for path in paths if not Path(path).resolve().is_relative_to(folder)]
    return variables | ({"PYTHONPATH": os.pathsep.join(paths)} if paths else {})


def _how_it_ended(status: int, err: str) -> str:
    """Empty if it ended well."""
    if status == 0:
        return ""
    last = err.strip().splitlines()[-1:] or ["no output"]
    how = signal.Signals(-status).name if status < 0 else f"status {status}"
    return f"it ended with {how}: {last[0]}"


def _device(row: dict[str, Any]) -> Device:
    if "capability" in row:
        row["capability"] = tuple(row["capability"])
    return Device(**row)


# NVIDIA's driver


def _ask_driver() -> dict[str, Any]:
    if not shutil.which("nvidia-smi"):
        return {}
    status, out = _run("nvidia-smi")
    if status:
        return {"driver_error": (out.strip() or f"status {status}").splitlines()[0]}
    _, listed = _run("nvidia-smi", "-L")
    return {
        "driver": _search(r"Driver Version:\s*([\d.]+)", out),
        "driver_cuda": _search(r"CUDA[\w ]* Version:\s*([\d.]+)", out),
        "gpus": re.findall(r"^GPU \d+: (.*?)(?: \(UUID.*)?$", listed, re.MULTILINE),
    }


def _run(*command: str) -> tuple[int, str]:
    result = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=DRIVER_SECONDS,
    )
    return result.returncode, result.stdout


def _search(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    return match[1] if match else ""


# the machine itself


def _count_cores() -> int:
    """The cores that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    share = _read(Path("/sys/fs/cgroup/cpu.max")).split()
    if len(share) == 2 and share[0].isdigit():  # a container's quota, in microseconds
        return max(1, min(cores or 1, math.ceil(int(share[0]) / int(share[1]))))
    return cores or 1


def _free_memory() -> int | None:
    available = _search(r"MemAvailable:\s*(\d+) kB", _read(Path("/proc/meminfo")))
    if not available:
        return None
    most, used = (_read(Path("/sys/fs/cgroup") / f"memory.{name}") for name in ("max", "current"))
    free = int(available) * 1024
    return min(free, int(most) - int(used)) if most.isdigit() and used.isdigit() else free


def _cpu_has_bf16() -> bool | None:
    flags = _search(r"(?:flags|Features)\s*:(.*)", _read(Path("/proc/cpuinfo"))).split()
    return bool({"avx512_bf16", "amx_bf16", "bf16"} & set(flags)) if flags else None


def _free_shared_memory() -> int | None:
    folder = Path("/dev/shm")
    return shutil.disk_usage(folder).free if folder.is_dir() else None


def _read(path: Path) -> str:
    """The text of a system file, empty if there is none."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _look_at_disk(output: Path) -> dict[str, Any]:
    """The disk of the runs folder, or of its nearest existing parent."""
    folder = next(path for path in (output, *output.parents) if path.exists())
    return {
        "output": str(output),
        "disk": shutil.disk_usage(folder).free,
        "writable": folder.is_dir() and os.access(folder, os.W_OK),
    }


def _find_commands(names: Iterable[str]) -> dict[str, str]:
    """The commands on the PATH, and the Python that each one starts, empty if it names none.

    A command that pip installed starts with a line that names its Python.
    """
    found = {}
    for name in names:
        if path := shutil.which(name):
            with suppress(OSError), Path(path).open("rb") as file:
                first = file.readline(500).decode(errors="replace").rstrip()
                found[name] = _search(r"^#!(/\S*/python[\d.]*)$", first)
    return found


def _find_variables() -> dict[str, str]:
    found = {name: os.environ[name] for name in os.environ if VARIABLES.fullmatch(name)}
    return dict(sorted(found.items()))


def _find_address(address: tuple[str, int] | None) -> Address | None:
    """A socket can only be bound to an address of this machine: this shows which machine it is."""
    if address is None:
        return None
    host, port = address
    try:
        family, *_, found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        return Address("unresolved")
    loopback = str(found[0]).startswith("127.") or found[0] == "::1"
    if not _can_bind(family, (found[0], 0, *found[2:])):
        return Address("elsewhere")
    if _can_bind(family, found):
        return Address("free", loopback)
    with socket.socket(family) as other:
        other.bind((found[0], 0, *found[2:]))
        return Address("taken", loopback, other.getsockname()[1])


def _can_bind(family: int, address: tuple[Any, ...]) -> bool:
    with socket.socket(family) as trial:
        if os.name == "posix":  # a port that was just closed is free
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(address)
            trial.listen(1)
        except OSError:
            return False
        return True
