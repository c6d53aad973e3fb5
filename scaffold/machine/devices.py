"""Checks of GPUs and other devices."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from packaging.version import Version

from scaffold.answers.hardware import KIND, PRECISION
from scaffold.machine.case import (
    DEVICES,
    KINDS,
    OK,
    PROBLEM,
    WARNING,
    Case,
    Finding,
    plural,
    tell_devices,
    tell_names,
    tell_numbers,
    tell_size,
)
from scaffold.machine.change import (
    FIND_TORCH,
    INSTALL,
    to_all_devices,
    to_cpu,
    to_devices,
    to_kind,
    update,
)
from scaffold.machine.look import Device

UNCOUNTED = ("neuron", "xla")  # counting these would occupy them


def _driver(case: Case) -> Iterator[Finding]:
    """NVIDIA's driver and the CUDA version that torch was built for."""
    machine = case.machine
    if case.use_cpu or case.kind not in ("NO", "MULTI_GPU") or not machine.built:
        return
    cuda, newest, blind = machine.built.get("cuda", ""), machine.driver_cuda, not case.devices
    text, change = "", "repair NVIDIA's driver"
    if machine.driver_error:
        text = f"nvidia-smi fails: {machine.driver_error}"
    elif machine.gpus and not any(machine.built.values()):
        text = f"{tell_names(machine.gpus)}, but this torch is built for the CPU"
        change = f"install torch for CUDA {newest} ({FIND_TORCH})"
    elif cuda and blind and _major(newest) < _major(cuda):
        text = f"{machine.driver} supports CUDA up to {newest}, but torch is built for {cuda}"
        change = f"install a newer driver, or torch for CUDA {newest} ({FIND_TORCH})"
    elif cuda and blind and machine.gpus and not case.hiding:
        reason = machine.note or "no reason given"
        text = f"{tell_names(machine.gpus)}, but torch sees none: {reason}"
    if text:
        yield Finding(PROBLEM, "driver", text, f"{change}; or train on the CPU: {to_cpu(case)}")
    elif cuda and machine.driver and not blind:
        text = f"{machine.driver} supports CUDA up to {newest}, and torch is built for {cuda}"
        yield Finding(OK, "driver", text)


def _major(version: str) -> int:
    """A driver supports all versions with the same major number. 99: not known."""
    number = version.partition(".")[0]
    return int(number) if number.isdigit() else 99


def _devices(case: Case) -> Iterator[Finding]:
    """Whether kind and number of devices fit the processes."""
    if case.use_cpu:
        return
    here, count = tell_devices(case.devices), len(case.devices)
    if case.kind == "NO" and not count:
        if case.machine.built and not case.machine.gpus:
            yield Finding(OK, "devices", "none: training runs on the CPU")
    elif not count:
        yield from _no_devices(case)
    elif case.chosen:
        yield from _chosen_devices(case)
    elif count < case.processes:
        text = f"{here}: too few for {case.tell_processes()}"
        yield Finding(PROBLEM, "devices", text, to_devices(case, count))
    else:
        change = to_all_devices(case) if count > case.processes else ""
        yield Finding(OK, "devices", f"{here} for {case.tell_processes()}", change)


def _no_devices(case: Case) -> Iterator[Finding]:
    """No devices of the kind that several processes need."""
    name, module = DEVICES[case.kind]
    others = [device for device in case.machine.devices if device.kind in KINDS]
    if module and module not in case.machine.modules:
        change = f"install {module} as its vendor describes; or train on the CPU: {to_cpu(case)}"
        yield Finding(PROBLEM, "devices", f"none, because {module} is not installed", change)
    elif name in UNCOUNTED:
        yield Finding(
            WARNING, "devices", f"{module} is installed; its devices can't be counted here"
        )
    elif others:
        text = f"{tell_devices(others)}, but {KIND} is {case.kind}"
        change = to_kind(case, KINDS[others[0].kind], len(others))
        yield Finding(PROBLEM, "devices", text, change)
    elif case.machine.built:
        text = f"none for {case.tell_processes()}"
        reason = _why_none(case, name)
        text += f": {reason}" if reason else ""
        yield Finding(PROBLEM, "devices", text, to_devices(case, 0))


def _why_none(case: Case, name: str) -> str:
    """Empty if the finding about the driver says it."""
    machine = case.machine
    if machine.gpus or machine.driver_error:
        return ""
    if not any(machine.built.values()):
        return "this torch is built for the CPU"
    if name == "cuda" and machine.built.get("cuda"):
        return "nvidia-smi, which comes with NVIDIA's driver, is missing"
    return machine.note


def _chosen_devices(case: Case) -> Iterator[Finding]:
    """The devices in hardware.gpu_ids."""
    count = max(len(case.devices), len(case.machine.gpus))
    beyond = [number for number in case.chosen if number >= count]
    text = f"{tell_numbers(case.chosen)} of {count}"
    if beyond:
        text = f"there is no {tell_numbers(beyond)}: this machine has {count}, numbered from 0"
        change = update({"hardware.gpu_ids": "all"})
        if count < case.processes:
            change = f"{change}; then {to_devices(case, count)}"
        yield Finding(PROBLEM, "devices", text, change)
    elif len(case.chosen) < case.processes:
        text = f"{text}: too few for {case.tell_processes()}"
        change = update({"hardware.gpu_ids": "all"})
        if count < case.processes:
            change = to_devices(case, len(case.chosen))
        yield Finding(PROBLEM, "devices", text, change)
    else:
        yield Finding(OK, "devices", f"{text} for {case.tell_processes()}")


def _usable(case: Case) -> Iterator[Finding]:
    """Whether each device answers, and torch has code for it."""
    for number, device in case.used.items():
        name = f"{number}, {device.name or device.kind},"
        if device.error:
            text = f"{name} can't be used: {device.error}"
            yield Finding(PROBLEM, "devices", text, _avoid(case, [number]))
        elif device.capability and not _has_code(case.machine.archs, device.capability):
            codes = " ".join(case.machine.archs)
            code = "".join(map(str, device.capability))
            text = f"{name} is an sm_{code}, but this torch is built for {codes}"
            yield Finding(PROBLEM, "devices", text, f"install another torch ({FIND_TORCH})")


def _has_code(archs: Iterable[str], capability: tuple[int, int]) -> bool:
    """Compiled code runs on its own major version, PTX on all later ones."""
    major, minor = capability
    codes = [code for arch in archs if (code := re.fullmatch(r"(sm|compute)_(\d+)[af]?", arch))]
    older = [code for code in codes if int(code[2]) <= 10 * major + minor]
    return not codes or any(code[1] == "compute" or int(code[2]) // 10 == major for code in older)


def _memory(case: Case) -> Iterator[Finding]:
    """How much there is, and a warning if something else uses most of it."""
    known = {number: device for number, device in case.used.items() if device.memory}
    taken = [number for number, device in known.items() if not _is_free(device)]
    for number in taken:
        free, all_of_it = known[number].free or 0, known[number].memory
        text = f"{number} has {tell_size(free)} of {tell_size(all_of_it)} free"
        text += ": something else is using it"
        yield Finding(WARNING, "memory", text, _avoid(case, taken))
    if known and not taken:
        sizes = Counter(tell_size(device.memory) for device in known.values())
        text = " and ".join(f"{count} x {size}" for size, count in sizes.items())
        free_sizes = [device.free for device in known.values() if device.free is not None]
        text += f", {tell_size(min(free_sizes))} free" if free_sizes else ""
        yield Finding(OK, "memory", text)


def _is_free(device: Device) -> bool:
    return device.free is None or device.free >= device.memory / 2


def _avoid(case: Case, numbers: Sequence[int]) -> str:
    """How to use other devices than these, if there are enough."""
    ways = ["nvidia-smi shows what uses them"] if case.machine.gpus else []
    others = [
        number
        for number, device in enumerate(case.devices)
        if number not in numbers and not device.error and _is_free(device)
    ][: case.processes]
    # gpu_ids has no effect on sharded models, and numbers devices differently if some are hidden
    can_choose = case.sharding == "none" and not case.hiding and case.kind not in NOT_CHOSEN
    if len(others) == case.processes and case.is_script and case.machine.built.get("cuda"):
        ways.append(f"CUDA_VISIBLE_DEVICES={others[0]} python train.py")
    elif len(others) == case.processes and can_choose and not case.is_script:
        ways.append(update({"hardware.gpu_ids": tell_numbers(others)}))
    return "; or ".join(ways)


NOT_CHOSEN = ("XLA", "MULTI_HPU")  # which have no gpu_ids


def _precision(case: Case) -> Iterator[Finding]:
    precision = str(case.answers[PRECISION])
    if precision == "no":
        return
    if case.trains_on_cpu:
        yield from _precision_of_cpu(case, precision)
    elif case.used and precision == "fp8":
        yield from _fp8(case)
    elif case.used:
        yield from _precision_of_devices(case, precision)


def _precision_of_cpu(case: Case, precision: str) -> Iterator[Finding]:
    if precision == "fp16":
        text = "fp16 has no effect on the CPU, which computes in 32 bits"
        yield Finding(PROBLEM, "precision", text, update({PRECISION: "no"}))
    elif precision == "fp8":
        text = "fp8 needs a GPU, but training runs on the CPU"
        yield Finding(PROBLEM, "precision", text, update({PRECISION: "no"}))
    elif case.machine.cpu_bf16 is False:
        text = "bf16 is slower than 32 bits on this CPU, which has no bf16 instructions"
        yield Finding(WARNING, "precision", text, update({PRECISION: "no"}))
    else:
        yield Finding(OK, "precision", "bf16 on the CPU")


def _precision_of_devices(case: Case, precision: str) -> Iterator[Finding]:
    """Source: what Accelerate refuses, in accelerate/accelerator.py of 1.15."""
    lacking = [device for device in case.used.values() if device.bf16 is False]
    apple = any(device.kind == "mps" for device in case.used.values())
    least = {"bf16": "2.6", "fp16": "2.5"}[precision]
    torch = case.machine.packages.get("torch", least)
    if apple and Version(torch) < Version(least):
        text = f"{precision} on Apple silicon needs torch {least} or newer, but this is {torch}"
        yield Finding(PROBLEM, "precision", text, f"{INSTALL} 'torch>={least}'")
    elif precision == "bf16" and lacking and apple:
        text = "bf16 on Apple silicon needs macOS 14"
        yield Finding(PROBLEM, "precision", text, update({PRECISION: "fp16"}))
    elif precision == "bf16" and lacking:
        text = f"bf16 is slow on {tell_devices(lacking)}, where it is only emulated"
        yield Finding(WARNING, "precision", text, update({PRECISION: "fp16"}))
    else:
        yield Finding(OK, "precision", precision)


def _fp8(case: Case) -> Iterator[Finding]:
    if case.answers["fp8.backend"] == "msamp" and "msamp" not in case.machine.modules:
        change = f"install MS-AMP, or {update({'fp8.backend': 'ao'})}"
        yield Finding(PROBLEM, "precision", "msamp is not installed", change)
    lacking = [
        d for d in case.used.values() if d.kind == "mps" or (d.capability or (9, 0)) < (8, 9)
    ]
    unknown = [d for d in case.used.values() if not d.capability and d.kind != "hpu"]
    if lacking:
        other = "fp16" if any(device.bf16 is False for device in lacking) else "bf16"
        text = f"no fp8 on {tell_devices(lacking)}: it needs Ada, Hopper or newer GPUs"
        yield Finding(PROBLEM, "precision", text, update({PRECISION: other}))
    elif unknown:
        text = f"it is not known whether {tell_devices(unknown)} can compute in fp8"
        yield Finding(WARNING, "precision", text)
    else:
        yield Finding(OK, "precision", "fp8")


def _visible(case: Case) -> Iterator[Finding]:
    """Variables that hide devices."""
    count, all_of_them = len(case.devices), len(case.machine.gpus)
    for name, value in case.hiding.items() if not case.use_cpu else ():
        text = f"{name}={value}"
        if all_of_them > count:
            text += f" hides {all_of_them - count} of {plural(all_of_them, 'GPU')}"
        few = count < case.processes
        yield Finding(WARNING if few else OK, "environment", text, f"unset {name}" if few else "")


CHECKS = (_driver, _devices, _usable, _memory, _precision, _visible)
