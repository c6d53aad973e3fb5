"""How much memory training takes on each device, estimated from the answers before anything runs.

    weights      4 bytes per parameter; with 16 bits 2 more, for the copies that layers compute with
    gradients    4 bytes per trained parameter; as much again where DDP gathers them in buckets
    optimizer    4 bytes per trained parameter and state: two states for AdamW
    activations  what the forward pass keeps for the backward pass: grows with the batch

These are the numbers of "Model memory anatomy" in the documentation of Transformers,
https://huggingface.co/docs/transformers/model_memory_anatomy. FSDP and ZeRO split them among n
devices as in Rajbhandari and others 2020, https://arxiv.org/abs/1910.02054: stage 1 the optimizer,
stage 2 the gradients too, stage 3 and FSDP all three; with DeepSpeed and 16 bits that is 2 + 2 + 12
bytes. Activations are counted as in Korthikanti and others 2022, https://arxiv.org/abs/2205.05198,
section 4.1, without the square of the length, which PyTorch's attention does not keep.

Not counted: what CUDA and libraries take themselves (0.5 to 1 GiB), temporary copies of a kernel,
and what the allocator can't use. The tests hold the sum against what PyTorch allocates.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from scaffold.answers.catalog import Value
from scaffold.answers.hardware import CPU, KIND, MACHINES, PRECISION, PROCESSES, SHARDING
from scaffold.machine.case import GIB, MIB, OK, PROBLEM, WARNING, Case, Finding, tell_size
from scaffold.machine.change import update
from scaffold.machine.model import Layers, Model

BATCH, STEPS = "training.batch_size", "training.gradient_accumulation_steps"
# bytes of a weight in 4 bits with its share of two scales, of 8 bits for 64 weights and of 32 for
# 64 * 256: section 3 of Dettmers and others 2023, https://arxiv.org/abs/2305.14314
PACKED = 0.5 + 1 / 64 + 4 / (64 * 256)
UNSURE = 1.2  # how far off an estimate may be


@dataclass(frozen=True)
class Estimate:
    """Bytes on each device."""

    weights: float  # with their average, if there is one
    gradients: float
    optimizer: float
    activations: float | None  # None: not known
    peak: float  # the most at once; without activations if they are not known
    tokens: int = 0  # of a sample, with which they were counted
    note: str = ""


def estimate(model: Model, answers: Mapping[str, Value], on_cpu: bool = False) -> Estimate | str:
    """What training takes on each device. A text says why it can't be estimated."""
    if answers["parallelism.enabled"] and _size(answers, "tp_size", "cp_size") > 1:
        return "not estimated with tensor or context parallelism"
    if answers[SHARDING] == "deepspeed" and not answers[CPU] and answers["deepspeed.config_file"]:
        return "not estimated with a DeepSpeed JSON file"
    bits16 = answers[PRECISION] != "no"
    activations = _activations(model.layers, answers, bits16) if model.layers else None
    weights, gradients, optimizer = _states(model, answers, bits16)
    if answers["features.ema.enabled"]:
        weights += 4.0 * model.parameters
    # gradients come while activations go, if nothing of either stays from other batches or layers
    kept = activations or 0.0
    apart = answers["training.gradient_accumulation_steps"] == 1 and not _recomputes(answers)
    apart = apart and (answers[KIND] == "NO" or answers[SHARDING] != "none")
    most = max(gradients, kept) if apart else gradients + kept
    # a step holds a copy of all weights on a GPU, and of the largest matrix on the CPU
    step = 8.0 * min(model.largest, model.trained)
    if not on_cpu and answers["training.optimizer_kernels"] != "fused":
        step = max(step, gradients)
    peak = weights + optimizer + max(most, gradients + step)
    tokens = model.layers.tokens if model.layers else 0
    return Estimate(weights, gradients, optimizer, activations, peak, tokens, model.note)


def _recomputes(answers: Mapping[str, Value]) -> bool:
    """Whether layers keep only their input."""
    of_fsdp = answers[SHARDING] == "fsdp" and answers["fsdp.activation_checkpointing"]
    return bool(answers["features.activation_checkpointing.enabled"] or of_fsdp)


def _activations(layers: Layers, answers: Mapping[str, Value], bits16: bool) -> float:
    layer = 4 * layers.full + (2 if bits16 else 4) * layers.half
    # logits, the logarithm of their softmax, and its gradient
    ends = 12 * (layers.vocabulary + layers.width)
    token = layers.count * layer + ends
    if _recomputes(answers):
        token = layers.count * 4 * layers.width + max(ends, layer)
    return float(token * layers.tokens * int(answers["training.batch_size"]))


def _states(model: Model, answers: Mapping[str, Value], bits16: bool) -> tuple[float, float, float]:
    """Bytes of weights, gradients and optimizer on each device."""
    whole = model.parameters - model.packed
    weights, gradients = 4.0 * whole + PACKED * model.packed, 4.0 * model.trained
    copies = 2.0 * whole if bits16 else 0.0
    optimizer = gradients * model.states
    sharding = "none" if answers[CPU] else answers[SHARDING]
    if sharding == "none":
        buckets = 1 if answers[KIND] == "NO" else 2
        return weights + copies, gradients * buckets, optimizer
    n = _shards(answers)
    if sharding == "fsdp":
        layer = weights / max(model.layers.count if model.layers else 1, 1)
        # the weights of this layer and those of the next one, or of all layers
        gathered = min(2 * layer, weights) if _frees_layers(answers) else weights
        return weights / n + gathered / (2 if bits16 else 1), gradients / n, optimizer / n
    if bits16:
        weights, gradients, optimizer = weights / 2, gradients / 2, optimizer + gradients
    stage = int(answers["deepspeed.zero_stage"])
    if answers["deepspeed.offload_optimizer_device"] != "none":
        optimizer = 0.0
    return (
        weights / (n if stage == 3 else 1),
        gradients / (n if stage >= 2 else 1),
        optimizer / (n if stage >= 1 else 1),
    )


def _frees_layers(answers: Mapping[str, Value]) -> bool:
    """Whether FSDP frees the weights of a layer after its forward pass."""
    if answers["fsdp.version"] == 1:
        return answers["fsdp.sharding_strategy"] in ("FULL_SHARD", "HYBRID_SHARD")
    return bool(answers["fsdp.reshard_after_forward"])


def _shards(answers: Mapping[str, Value]) -> int:
    """The number of devices that a model is sharded across."""
    if answers["parallelism.enabled"]:
        return _size(answers, "dp_shard_size")
    strategy = str(answers["fsdp.sharding_strategy"])
    version1 = answers[SHARDING] == "fsdp" and answers["fsdp.version"] == 1
    if version1 and strategy == "NO_SHARD":
        return 1
    machines = int(answers[MACHINES]) if version1 and strategy.startswith("HYBRID") else 1
    return max(1, int(answers[PROCESSES]) // machines)


def _size(answers: Mapping[str, Value], *names: str) -> int:
    return prod(int(answers[f"parallelism.{name}"]) for name in names)


def smaller(answers: Mapping[str, Value]) -> list[dict[str, Value]]:
    """Answers that need less memory and train the same: first the cheapest."""
    size, steps = (int(answers[key]) for key in (BATCH, STEPS))
    halves = [{BATCH: size // 2**n, STEPS: steps * 2**n} for n in range(1, 20) if size % 2**n == 0]
    key = "features.activation_checkpointing.enabled"
    if answers[SHARDING] == "fsdp":
        key = "fsdp.activation_checkpointing"
    again: list[dict[str, Value]] = [] if _recomputes(answers) else [{key: True}]
    return [*halves, *again, *(one | half for one in again for half in halves)]


def tell(found: Estimate) -> str:
    """Such as `1.0 GiB weights, 1.0 GiB gradients, 2.0 GiB optimizer: at least 4.0 GiB at once`."""
    parts = {"weights": found.weights, "gradients": found.gradients, "optimizer": found.optimizer}
    if found.activations is not None:
        parts[f"activations with samples of {found.tokens} tokens"] = found.activations
    rows = ", ".join(f"{_size_in_words(size)} {name}" for name, size in parts.items())
    least = "at least" if found.activations is None else "about"
    text = f"{rows}: {least} {_size_in_words(found.peak)} at once"
    return f"{text}; {found.note}" if found.note else text


def _size_in_words(size: float) -> str:
    return f"{size / GIB:.1f} GiB" if size >= GIB else f"{size / MIB:.1f} MiB"


def _needed(case: Case) -> Iterator[Finding]:
    """Whether training fits into the memory that is free."""
    model = case.model
    if model is None:
        return
    found = model if isinstance(model, str) else estimate(model, case.answers, case.trains_on_cpu)
    if isinstance(found, str):
        yield Finding(OK, "needed memory", f"not known: {found}")
        return
    free = _free(case)
    text = f"{tell(found)} for each process"
    if free is None:
        yield Finding(OK, "needed memory", text)
        return
    text = f"{text}, with {tell_size(free)} free"
    if found.peak * UNSURE <= free:
        yield Finding(OK, "needed memory", text)
    elif found.peak <= free * UNSURE:
        yield Finding(WARNING, "needed memory", f"it may not fit: {text}", _change(case, free))
    else:
        yield Finding(PROBLEM, "needed memory", f"it does not fit: {text}", _change(case, free))


def _free(case: Case) -> int | None:
    """Bytes for each process."""
    if case.trains_on_cpu:
        return None if case.machine.memory is None else case.machine.memory // case.processes
    sizes = [device.memory if device.free is None else device.free for device in case.used.values()]
    return min((size for size in sizes if size), default=None)


def _change(case: Case, free: int) -> str:
    """The first answers with which it fits, or what else helps."""
    assert isinstance(case.model, Model)
    for change in smaller(case.answers):
        found = estimate(case.model, {**case.answers, **change}, case.trains_on_cpu)
        if isinstance(found, Estimate) and found.peak * UNSURE <= free:
            return update(change)
    return "use a smaller model, LoRA, or more devices with hardware.sharding=fsdp"


CHECKS = (_needed,)
