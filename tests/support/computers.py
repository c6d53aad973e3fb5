"""Made-up machines, and what `scaffold doctor` says of them."""

from dataclasses import replace

from scaffold.machine.case import OK, Finding, Needs
from scaffold.machine.look import Device, Machine
from scaffold.machine.software import COMMANDS

GIB = 2**30
H100 = Device("cuda", "NVIDIA H100", 80 * GIB, 79 * GIB, (9, 0), True)
T4 = Device("cuda", "Tesla T4", 15 * GIB, 15 * GIB, (7, 5), False)
APPLE = Device("mps", "Apple GPU", 12 * GIB, bf16=True)
NEEDS = Needs(">=3.11", ("accelerate>=1.15", "torch>=2.13"))
# without a device
PLAIN = Machine(
    python="/env/bin/python",
    version="3.12.4",
    packages={"accelerate": "1.15.0", "torch": "2.13.0"},
    built={"cuda": "13.0", "hip": "", "xpu": ""},
    archs=("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "compute_120"),
    cores=64,
    memory=256 * GIB,
    cpu_bf16=True,
    shared=128 * GIB,
    output="/work/runs",
    disk=900 * GIB,
    commands=dict.fromkeys(COMMANDS, ""),
)


def with_gpus(count: int, gpu: Device = H100, **changes: object) -> Machine:
    facts = {
        "devices": (gpu,) * count,
        "gpus": (gpu.name,) * count,
        "driver": "580.65.06",
        "driver_cuda": "13.0",
        **changes,
    }
    return replace(PLAIN, **facts)  # type: ignore[arg-type]


def said(findings: list[Finding], check: str = "") -> list[str]:
    """What does not fit, and what to change, a text for each finding."""
    return [
        f"{finding.mark} {finding.check}: {finding.found} -> {finding.change}"
        for finding in findings
        if finding.mark != OK and check in ("", finding.check)
    ]
