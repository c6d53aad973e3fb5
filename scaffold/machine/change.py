"""What to change so that a project and a machine fit."""

from collections.abc import Mapping

from scaffold.answers.catalog import Value
from scaffold.answers.hardware import CPU, KIND, PRECISION, PROCESSES, SHARDING
from scaffold.answers.settings import toml_literal
from scaffold.machine.case import KINDS, Case

INSTALL = "python -m pip install"
# a page that asks for the system and its CUDA version
FIND_TORCH = "https://pytorch.org/get-started/locally"


def update(answers: Mapping[str, Value]) -> str:
    """The command that changes these answers."""
    rows = [f"--set {key}={_write(value)}" for key, value in answers.items()]
    return f"scaffold update {' '.join(rows)}"


def _write(value: Value) -> str:
    return value if isinstance(value, str) else toml_literal(value)


def to_cpu(case: Case) -> str:
    """How to train on the CPU."""
    answers: dict[str, Value] = {KIND: "MULTI_CPU"}
    if case.kind == "NO":
        answers = {CPU: True}
    elif case.answers[PROCESSES] == 1:
        answers = {KIND: "NO", CPU: True}
    if case.answers[PRECISION] in ("fp16", "fp8"):
        answers[PRECISION] = "bf16"
    return update(answers)


def to_count(case: Case, count: int) -> str:
    """How to run `count` processes on each machine, at least one."""
    return to_kind(case, case.kind, count)


def to_kind(case: Case, kind: str, count: int) -> str:
    """How to run `count` processes on each machine, on devices of this distributed type."""
    total = count * case.machines
    answers: dict[str, Value] = {KIND: kind} if kind != case.kind else {}
    answers |= {PROCESSES: total} if total > 1 else {KIND: "NO", PROCESSES: 1}
    if case.answers[PRECISION] == "fp8" and kind not in ("NO", "MULTI_GPU", "MULTI_HPU"):
        answers[PRECISION] = "bf16"
    if case.sharding == "fsdp" and total == 1:
        answers[SHARDING] = "none"
    elif case.sharding == "fsdp" and case.answers["parallelism.enabled"]:
        answers["parallelism.enabled"] = False  # its sizes fit the old number of processes
    return update(answers)


def to_devices(case: Case, count: int) -> str:
    """How to run at most one process per device."""
    if case.hiding and len(case.machine.gpus) >= case.processes:
        return f"unset {' '.join(case.hiding)}"
    return to_count(case, count) if count else to_cpu(case)


def to_all_devices(case: Case) -> str:
    """How to run a process on each device; empty if Accelerate has no type for them."""
    kind = case.kind if case.kind != "NO" else KINDS.get(case.devices[0].kind, "")
    return f"to use all: {to_kind(case, kind, len(case.devices))}" if kind else ""
