"""A machine and the answers to check on it, what checks find, and words for it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement

from scaffold.answers.catalog import Value
from scaffold.answers.hardware import CPU, KIND, LAUNCHER, MACHINES, PROCESSES, SHARDING
from scaffold.machine.look import Device, Machine
from scaffold.machine.model import Model

OK, WARNING, PROBLEM = "ok", "warning", "problem"
MIB, GIB = 2**20, 2**30

# torch's name for the devices of a distributed type, and the module that provides them
DEVICES = {
    "MULTI_GPU": ("cuda", ""),
    "MULTI_XPU": ("xpu", ""),
    "MULTI_HPU": ("hpu", "habana_frameworks"),
    "MULTI_NPU": ("npu", "torch_npu"),
    "MULTI_MLU": ("mlu", "torch_mlu"),
    "MULTI_SDAA": ("sdaa", "torch_sdaa"),
    "MULTI_MUSA": ("musa", "torch_musa"),
    "MULTI_NEURON": ("neuron", "torch_neuronx"),
    "XLA": ("xla", "torch_xla"),
}
KINDS = {name: kind for kind, (name, _) in DEVICES.items()}

# launchers whose processes run on other machines, and an environment variable set there
AWAY = {
    "slurm": "SLURM_JOB_ID",
    "trainjob": "KUBERNETES_SERVICE_HOST",
    "pytorchjob": "KUBERNETES_SERVICE_HOST",
    "sagemaker": "TRAINING_JOB_NAME",
}
HIDING = re.compile(r"\w+_VISIBLE_(DEVICES|CORES)|ZE_AFFINITY_MASK")  # variables that hide devices


@dataclass(frozen=True)
class Finding:
    """What a check says."""

    mark: str  # OK, WARNING or PROBLEM
    check: str  # what was looked at
    found: str
    change: str = ""  # what to do if it does not fit


@dataclass(frozen=True)
class Needs:
    """What the project's pyproject.toml requires."""

    python: str = ""  # such as ">=3.11"
    dependencies: Sequence[str] = ()
    problem: str = ""  # why it can't be read

    def requirements(self) -> Iterator[Requirement]:
        """The dependencies that can be parsed and that apply to this system."""
        for text in self.dependencies:
            with suppress(InvalidRequirement):
                requirement = Requirement(text)
                if requirement.marker is None or requirement.marker.evaluate():
                    yield requirement


@dataclass(frozen=True)
class Case:
    """Complete answers and the machine they are checked on."""

    answers: Mapping[str, Value]
    machine: Machine
    needs: Needs
    model: Model | str | None = None  # None: nothing is known of it; a text says why

    @property
    def kind(self) -> str:
        return str(self.answers[KIND])

    @property
    def use_cpu(self) -> bool:
        return bool(self.answers[CPU])

    @property
    def launcher(self) -> str:
        return str(self.answers[LAUNCHER])

    @property
    def sharding(self) -> str:
        return "none" if self.use_cpu else str(self.answers[SHARDING])

    @property
    def machines(self) -> int:
        return 1 if self.kind in ("NO", "XLA") else int(self.answers[MACHINES])

    @property
    def processes(self) -> int:
        """The number of processes on this machine."""
        return max(1, int(self.answers[PROCESSES]) // self.machines)

    @property
    def workers(self) -> int:
        """The number of data workers on this machine."""
        return self.processes * int(self.answers["training.num_workers"])

    @property
    def is_script(self) -> bool:
        """Whether `python train.py` starts it."""
        return self.kind == "NO" and self.launcher == "accelerate"

    @property
    def away(self) -> bool:
        """Whether the processes run on other machines."""
        variable = AWAY.get(self.launcher)
        return variable is not None and variable not in self.machine.environment

    @property
    def meets(self) -> bool:
        """Whether several machines meet at the address in the answers."""
        return self.machines > 1 and self.launcher in ("accelerate", "torchrun")

    @property
    def devices(self) -> list[Device]:
        """The devices that training could use."""
        if self.use_cpu:
            return []
        name, _ = DEVICES.get(self.kind, ("", ""))
        return [device for device in self.machine.devices if name in ("", device.kind)]

    @property
    def chosen(self) -> list[int]:
        """The devices in hardware.gpu_ids; empty means all."""
        ids = str(self.answers["hardware.gpu_ids"])
        # `python train.py` uses the first one
        return [] if self.is_script or ids == "all" else [int(number) for number in ids.split(",")]

    @property
    def used(self) -> dict[int, Device]:
        """The devices that training uses, by number."""
        devices = dict(enumerate(self.devices))
        numbers = self.chosen or list(devices)
        return {n: devices[n] for n in numbers[: self.processes] if n in devices}

    @property
    def trains_on_cpu(self) -> bool:
        """Because the answers say so, or because there is nothing else."""
        return self.use_cpu or (self.kind == "NO" and not self.devices)

    @property
    def hiding(self) -> dict[str, str]:
        """The variables that hide devices."""
        variables = self.machine.environment.items()
        return {name: value for name, value in variables if HIDING.fullmatch(name)}

    def tell_processes(self) -> str:
        text = plural(self.processes, "process", "processes")
        return f"{text} on each machine" if self.machines > 1 else text


# words


def plural(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def tell_devices(devices: Iterable[Device]) -> str:
    return tell_names(device.name or device.kind for device in devices)


def tell_names(names: Iterable[str]) -> str:
    """Such as `8 x NVIDIA H200`."""
    return " and ".join(f"{count} x {name}" for name, count in Counter(names).items())


def tell_numbers(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


def tell_variables(variables: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in variables.items())


def tell_size(size: int) -> str:
    return f"{size / GIB:.1f} GiB" if size >= GIB else f"{size / MIB:.0f} MiB"
