"""Checks of what is installed."""

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from scaffold.answers.hardware import LAUNCHER, on_tpu_cluster
from scaffold.machine.case import DEVICES, OK, PROBLEM, WARNING, Case, Finding
from scaffold.machine.change import INSTALL, update

LAUNCHERS = {  # the commands that they need
    "accelerate": ("accelerate",),
    "torchrun": ("torchrun",),
    "slurm": ("sbatch", "srun"),
    "trainjob": ("kubectl",),
    "pytorchjob": ("kubectl",),
    "sagemaker": ("accelerate",),
    "notebook": ("jupyter",),
}
MULTINODE = {  # DeepSpeed's
    "pdsh": "pdsh",
    "openmpi": "mpirun",
    "mpich": "mpirun",
    "mvapich": "mpirun",
    "slurm": "srun",
}
COMPILERS = ("g++", "clang++")
COMMANDS = {
    *(name for names in LAUNCHERS.values() for name in names),
    *MULTINODE.values(),
    "gcloud",
    *COMPILERS,
    "nvcc",
}
MODULES = {*(name for _, name in DEVICES.values() if name), "msamp", "pynvml", "sagemaker"}
PACKAGES = {"accelerate", "torch"}
DISTRIBUTIONS = {"PIL": "pillow", "sklearn": "scikit-learn"}  # of modules with other names


def _python(case: Case) -> Iterator[Finding]:
    machine, wanted = case.machine, case.needs.python
    text = f"{machine.version}, {machine.python}"
    if not machine.version:
        yield Finding(PROBLEM, "python", machine.unknown.get("python", "can't be started"))
    elif wanted and not SpecifierSet(wanted).contains(machine.version, prereleases=True):
        text = f"{text}; pyproject.toml requires {wanted}"
        yield Finding(PROBLEM, "python", text, f"create an environment with Python {wanted}")
    else:
        yield Finding(OK, "python", text)


def _packages(case: Case) -> Iterator[Finding]:
    """One finding for all that is missing, and one for each that has the wrong version."""
    if case.needs.problem:
        yield Finding(WARNING, "packages", case.needs.problem)
    if case.needs.problem or not case.machine.version:
        return
    installed, needed = case.machine.packages, list(case.needs.requirements())
    missing = [need.name for need in needed if need.name not in installed]
    if missing:
        text = f"not installed: {', '.join(missing)}"
        yield Finding(PROBLEM, "packages", text, f"{INSTALL} -e .")
    there = [need for need in needed if need.name in installed]
    wrong = [need for need in there if not _is_in_range(need, installed[need.name])]
    for need in wrong:
        text = f"{need.name} {installed[need.name]}; pyproject.toml requires {need.specifier}"
        change = f"{INSTALL} '{need.name}{need.specifier}'"
        yield Finding(PROBLEM, "packages", text, change)
    if needed and not missing and not wrong:
        text = ", ".join(f"{need.name} {installed[need.name]}" for need in needed)
        yield Finding(OK, "packages", text)


def _is_in_range(need: Requirement, version: str) -> bool:
    return need.specifier.contains(version, prereleases=True)


def _torch(case: Case) -> Iterator[Finding]:
    """What torch was built for, and whether it and Accelerate can be imported."""
    machine = case.machine
    if machine.built:
        names = {"cuda": "CUDA", "hip": "ROCm", "xpu": "Intel GPUs"}
        built = [f"{names[name]} {version}" for name, version in machine.built.items() if version]
        text = f"{machine.packages.get('torch', '')}, built for {' and '.join(built) or 'the CPU'}"
        yield Finding(OK, "torch", text)
    errors = {"torch": machine.torch_error, "accelerate": machine.accelerate_error}
    for name, error in errors.items():
        if error:
            change = f"{INSTALL} --force-reinstall {name}"
            yield Finding(PROBLEM, name, f"can't be used: {error}", change)


def _imports(case: Case) -> Iterator[Finding]:
    """The packages that are installed and can't be imported, or that nothing installs."""
    missing = [need for need in case.needs.requirements() if need.name not in case.machine.packages]
    for name, error in case.machine.import_errors.items():
        if error == f"ModuleNotFoundError: No module named {name!r}":
            if missing:  # it is one of these
                continue
            change = "add its package to the dependencies in pyproject.toml, and install it"
        elif name == "torchvision" or "torchvision::" in error:  # its operators
            change = (
                "install torchvision from the same index as torch: https://pytorch.org/get-started"
            )
        else:
            change = f"{INSTALL} --force-reinstall {DISTRIBUTIONS.get(name, name)}"
        yield Finding(PROBLEM, "packages", f"{name} can't be imported: {error}", change)


def _affinity(case: Case) -> Iterator[Finding]:
    """The package that tells Accelerate which cores are near a GPU."""
    machine = case.machine
    wanted = case.answers["hardware.enable_cpu_affinity"] and machine.built.get("cuda")
    if wanted and not case.use_cpu and "pynvml" not in machine.modules:
        change = f"{INSTALL} nvidia-ml-py, or {update({'hardware.enable_cpu_affinity': False})}"
        text = "enable_cpu_affinity needs nvidia-ml-py, which is not installed"
        yield Finding(PROBLEM, "packages", text, change)


def _launcher(case: Case) -> Iterator[Finding]:
    """The commands that start it."""
    needed, there = _needed_commands(case), case.machine.commands
    missing = [name for name in needed if name not in there]
    if missing:
        text = f"not on the PATH: {', '.join(missing)}"
        yield Finding(PROBLEM, "launcher", text, _how_to_get(missing))
    elif needed:
        yield Finding(OK, "launcher", ", ".join(needed))
    for name in needed:
        other, own = there.get(name, ""), case.machine.python
        if other and own and PurePath(other).parent != PurePath(own).parent:
            text = f"{name} on the PATH uses another Python: {other}"
            yield Finding(WARNING, "launcher", text, f"{INSTALL} -e .")
    if case.launcher == "sagemaker" and "sagemaker" not in case.machine.modules:
        yield Finding(PROBLEM, "launcher", "sagemaker is not installed", f"{INSTALL} sagemaker")


def _needed_commands(case: Case) -> list[str]:
    needed = [] if case.is_script else list(LAUNCHERS[case.launcher])
    if case.launcher == "slurm" and not case.away:
        needed = ["srun"]
    elif case.launcher in ("trainjob", "pytorchjob", "sagemaker") and not case.away:
        needed = []  # it runs already
    if case.kind == "MULTI_CPU" and case.answers["hardware.mpirun_hostfile"]:
        needed.append("mpirun")
    if on_tpu_cluster(case.answers):
        needed.append("gcloud")  # train.sh starts all machines with it
    if case.machines > 1 and case.sharding == "deepspeed":
        name = MULTINODE.get(str(case.answers["deepspeed.multinode_launcher"]))
        needed += [name] if name else []
    return needed


def _how_to_get(commands: Sequence[str]) -> str:
    if commands[0] in ("accelerate", "torchrun"):
        return f"{INSTALL} -e ."
    if commands[0] == "jupyter":
        return f"{INSTALL} jupyterlab"
    if commands[0] in ("sbatch", "srun", "kubectl"):
        return f"run scaffold where {commands[0]} is installed, or {update({LAUNCHER: 'torchrun'})}"
    return f"install {' and '.join(commands)}"


def _compiler(case: Case) -> Iterator[Finding]:
    """What torch.compile and DeepSpeed build their code with."""
    compiles = case.answers["hardware.dynamo_backend"] == "inductor"
    users = ["torch.compile"] if compiles else []
    users += ["DeepSpeed"] if case.sharding == "deepspeed" else []
    if not users or case.away:
        return
    who, machine = " and ".join(users), case.machine
    found = [
        machine.environment.get("CXX"),
        *(name for name in COMPILERS if name in machine.commands),
    ]
    compilers = [name for name in found if name]
    missing = ([] if compilers else ["g++"]) + ([] if machine.headers else ["Python.h"])
    if missing:
        text = f"{who} can't compile without {' and '.join(missing)}"
        change = "on Debian and Ubuntu: apt-get install g++ python3-dev"
        if users == ["torch.compile"]:
            change += f"; or {update({'hardware.dynamo_backend': 'no'})}"
        yield Finding(PROBLEM, "compiler", text, change)
    else:
        yield Finding(OK, "compiler", f"{compilers[0]} for {who}")
    cuda = machine.built.get("cuda") if case.sharding == "deepspeed" else ""
    if cuda and "nvcc" not in machine.commands:
        text = "DeepSpeed compiles its GPU code with nvcc, which is not on the PATH"
        yield Finding(WARNING, "compiler", text, f"install the CUDA {cuda} toolkit")


CHECKS = (_python, _packages, _torch, _imports, _affinity, _launcher, _compiler)
AWAY_CHECKS = (_launcher,)  # if the other machines have their own software
