"""What a step costs, for each contender beside the bare loop."""

import gc
import itertools
import os
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import torch
import torch.nn.functional as F
from accelerate.state import AcceleratorState, GradientState
from cases import MODELS, OPTIONS, Case
from contenders import bare
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils.data import TensorDataset

CONTENDERS = {
    "scaffold": "scaffold_project",
    "Accelerate's examples": "accelerate_example",
    "Fabric": "fabric_loop",
    "Ignite": "ignite_engine",
    "pytorch-accelerated": "pytorch_accelerated_trainer",
    "Lightning": "lightning_trainer",
    "HF Trainer": "hf_trainer",
}
LACKS = {("HF Trainer", "EMA")}  # what a contender has no option for
Train = Callable[[Case, nn.Module, TensorDataset], None]
STALL = 1.5  # a block that took so many times the usual was held up by something else


def measure_steps(folder: Path, rounds: int) -> list[dict]:
    """A row for each model and option: microseconds of a step, and ratios to the bare loop.

    The contenders take turns, in another order each round, all in this process and on one thread.
    A ratio is the median of the rounds', its spread the first and third quartile. Raises ValueError
    if a contender ends with another loss than the bare loop.
    """
    with on_one_core():
        for name in CONTENDERS:  # imports, caches, compiled regular expressions
            run(contender(name), Case(MODELS[0], "plain"))
        return [measure_case(Case(model, option), rounds) for model in MODELS for option in OPTIONS]


def contender(name: str) -> Train:
    return import_module(f"contenders.{CONTENDERS[name]}").train


def measure_case(case: Case, rounds: int) -> dict:
    names = [name for name in CONTENDERS if (name, case.option) not in LACKS]
    ratios: dict[str, list[float]] = {name: [] for name in names}
    bare_seconds = []
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            found = run(contender(name), case)
            if not agree(found, case):
                raise ValueError(f"{name} ends at {found.loss}, the bare loop at {found.bare_loss}")
            ratios[name].append(found.ratio)
            bare_seconds.append(found.bare_seconds)
    row = {
        "model": case.model.name,
        "option": case.option,
        "bare_us": round(1e6 * statistics.median(bare_seconds), 1),
        "ratios": {name: spread(values) for name, values in ratios.items()},
    }
    print(describe(row), file=sys.stderr, flush=True)
    return row


@dataclass(frozen=True)
class Found:
    """What one run of a contender shows."""

    ratio: float  # of its time to the bare loop's
    bare_seconds: float  # of a step
    loss: float  # of its last weights
    bare_loss: float


def run_all_options(name: str) -> dict[str, Found]:
    """A run of a contender with the smallest model, by option."""
    cases = [Case(MODELS[0], option) for option in OPTIONS if (name, option) not in LACKS]
    with on_one_core():
        return {case.option: run(contender(name), case) for case in cases}


def run(train: Train, case: Case) -> Found:
    """Train with a contender, and with the bare loop in between.

    After each block of steps, inside a hook of the optimizer, the bare loop makes as many: a
    machine whose speed changes from one moment to the next has the same one for both. The first
    block of each is not counted, nor one in which either stalled.
    """
    model, dataset = case.model.build(), case.dataset()
    bare_model = case.model.build()
    bare_loop = bare.steps(case, bare_model, dataset)
    blocks: list[tuple[float, float]] = []
    weights: list[torch.Tensor] = []
    done, began, busy = 0, time.perf_counter(), False

    def take_turns(optimizer, arguments, named) -> None:
        nonlocal done, began, busy
        if busy:  # that is a step of the bare loop
            return
        done += 1
        if done % case.block == 0:
            now = time.perf_counter()
            busy = True
            with torch.enable_grad():
                for _ in itertools.islice(bare_loop, case.block):
                    pass
            busy = False
            blocks.append((now - began, time.perf_counter() - now))
        if done == case.steps:  # some put averages in their place afterwards
            groups = optimizer.param_groups
            weights.extend(
                weight.detach().clone() for group in groups for weight in group["params"]
            )
        if done % case.block == 0:
            began = time.perf_counter()

    gc.collect()
    gc.freeze()  # what all the other libraries hold is nothing that a run has to look through
    hook = register_optimizer_step_post_hook(take_turns)
    with leaves_no_trace(), Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        train(case, model, dataset)
    hook.remove()
    gc.unfreeze()
    if done != case.steps:
        raise ValueError(f"{done} steps were made, and not {case.steps}")
    with torch.no_grad():
        for parameter, weight in zip(model.parameters(), weights, strict=True):
            parameter.copy_(weight)
    usual = [STALL * statistics.median(times) for times in zip(*blocks[1:], strict=True)]
    even = [block for block in blocks[1:] if block[0] <= usual[0] and block[1] <= usual[1]]
    own, other = (sum(times) for times in zip(*even, strict=True))
    return Found(
        own / other,
        other / len(even) / case.block,
        loss_of(model, case, dataset),
        loss_of(bare_model, case, dataset),
    )


@torch.no_grad()
def loss_of(model: nn.Module, case: Case, dataset: TensorDataset) -> float:
    inputs, targets = dataset[: 4 * case.model.batch_size]
    return float(F.cross_entropy(model(inputs).float(), targets))


@contextmanager
def on_one_core() -> Iterator[None]:
    """One thread, pinned."""
    cores, threads = os.sched_getaffinity(0), torch.get_num_threads()
    os.sched_setaffinity(0, {min(cores)})
    torch.set_num_threads(1)
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
        torch.set_num_threads(threads)


@contextmanager
def leaves_no_trace() -> Iterator[None]:
    """Accelerate's shared states and the handlers of signals are inside as in a fresh process."""
    signals = [signal.SIGTERM, signal.SIGUSR1, signal.SIGINT]
    handlers = [signal.getsignal(number) for number in signals]
    AcceleratorState._reset_state(reset_partial_state=True)
    GradientState._reset_state()
    os.environ.pop("ACCELERATE_MIXED_PRECISION", None)  # transformers sets it for all after it
    os.environ.pop("ACCELERATE_GRADIENT_ACCUMULATION_STEPS", None)
    try:
        yield
    finally:
        for number, handler in zip(signals, handlers, strict=True):
            signal.signal(number, handler)


def agree(found: Found, case: Case) -> bool:
    """Whether a contender trained as the bare loop did, but for the order of sums."""
    tolerance = 1e-2 if case.bf16 else 1e-4
    return abs(found.loss - found.bare_loss) <= tolerance * found.bare_loss


def spread(values: list[float]) -> list[float]:
    """The first quartile, the median and the third quartile."""
    return [round(value, 4) for value in statistics.quantiles(values, n=4, method="inclusive")]


def describe(row: dict) -> str:
    ratios = ", ".join(f"{name} {values[1]:.3f}" for name, values in row["ratios"].items())
    return f"{row['model']}, {row['option']}: bare {row['bare_us']:.0f} us; {ratios}"
