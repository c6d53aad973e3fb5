"""Whether the devices can run the kernels that the answers choose."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scaffold.answers.catalog import Value
from scaffold.machine.case import PROBLEM, WARNING, Case, Finding, tell_devices
from scaffold.machine.change import update


@dataclass(frozen=True)
class Kernels:
    """What needs certain devices."""

    name: str
    key: str
    value: Value  # the answer that chooses them
    other: Value  # the answer to give where they can't run
    kinds: tuple[str, ...]  # of devices, as torch names them
    least: tuple[int, int] = (0, 0)  # NVIDIA's compute capability
    needs: str = ""  # the switch of the feature that the answer belongs to
    slow_on_cpu: bool = False  # whether they run there, slowly


# what flash-attn, torch, liger-kernel and bitsandbytes say of themselves
ALL = (
    Kernels(
        "FlashAttention",
        "features.attention.implementation",
        "flash_attention_2",
        "sdpa",
        ("cuda",),
        (8, 0),
        "features.attention.enabled",
    ),
    Kernels(
        "FlexAttention",
        "features.attention.implementation",
        "flex_attention",
        "sdpa",
        ("cuda", "xpu"),
        (7, 0),
        "features.attention.enabled",
    ),
    Kernels("Liger", "features.liger.enabled", True, False, ("cuda", "xpu"), (7, 0)),
    Kernels(
        "bitsandbytes (4 bits)",
        "features.lora.quantization",
        "nf4",
        "none",
        ("cuda", "xpu"),
        (6, 0),
        "features.lora.enabled",
        slow_on_cpu=True,
    ),
)


def _chosen(answers: Mapping[str, Value]) -> Iterator[Kernels]:
    for row in ALL:
        if answers[row.key] == row.value and (not row.needs or answers[row.needs]):
            yield row


def _kernels(case: Case) -> Iterator[Finding]:
    """What the devices can't run, and what to take instead."""
    for row in _chosen(case.answers):
        change = update({row.key: row.other})
        devices = list(case.used.values())
        others = [device for device in devices if device.kind not in row.kinds]
        old = [device for device in devices if (device.capability or row.least) < row.least]
        if case.trains_on_cpu and row.slow_on_cpu:
            yield Finding(WARNING, "kernels", f"{row.name} is slow on the CPU", change)
        elif case.trains_on_cpu:
            text = f"{row.name} needs a GPU, but training runs on the CPU"
            yield Finding(PROBLEM, "kernels", text, change)
        elif others:
            text = f"{row.name} does not run on {tell_devices(others)}"
            yield Finding(PROBLEM, "kernels", text, change)
        elif old:
            least = ".".join(map(str, row.least))
            text = f"{row.name} needs compute capability {least}, which {tell_devices(old)} lacks"
            yield Finding(PROBLEM, "kernels", text, change)


CHECKS = (_kernels,)
