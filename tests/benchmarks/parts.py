"""What parts of the generated loop cost a tiny model: each alone, in a loop without the others."""

from collections.abc import Collection
from pathlib import Path

from cases import MODELS, Case
from contenders.scaffold_project import load_project, train_project
from steps import on_one_core, run, spread

ADD, BACKWARD = "RunningLoss.add", "accelerator.backward"
STEP, LOADER = "AcceleratedOptimizer.step", "the prepared loader"
LINES = {  # of train.py, and what they become without a part
    ADD: ("train_loss.add(loss, len(labels))", "pass"),
    BACKWARD: ("accelerator.backward(loss)", "loss.backward()"),
    STEP: ("optimizer.step()", "optimizer.optimizer.step()"),
    LOADER: ("batches = train_loader\n", "batches = train_loader.base_dataloader\n"),
}

Changes = tuple[tuple[str, str], ...]


def measure_parts(folder: Path, rounds: int) -> dict[str, list[float]]:
    """Quartiles of the ratio to the bare loop: of the whole loop, of one without any of the parts,
    and of those with one part each."""
    kept = {"all of them": LINES, "none of them": (), **{part: (part,) for part in LINES}}
    projects = {name: load_project("plain", without(parts)) for name, parts in kept.items()}
    case = Case(MODELS[0], "plain")
    ratios: dict[str, list[float]] = {name: [] for name in kept}
    with on_one_core():
        for _ in range(rounds):
            for name, project in projects.items():
                found = run(lambda *what, project=project: train_project(project, *what), case)
                ratios[name].append(found.ratio)
    return {name: spread(values) for name, values in ratios.items()}


def without(kept: Collection[str]) -> Changes:
    """The changes that put PyTorch's own in the place of all parts but these."""
    return tuple(change for part, change in LINES.items() if part not in kept)
