"""What parts of the generated loop cost a tiny model: each alone, in a loop without the others."""

from collections.abc import Collection

from cases import MODELS, Case
from contenders.scaffold_project import load_project, train_project
from steps import on_one_core, run, spread

LOSSES, ADD = "a loss for each sample", "RunningLoss.add"
BACKWARD, STEP = "accelerator.backward", "AcceleratedOptimizer.step"
LOADER, LOG = "the prepared loader", "a log line every 20 updates"
PARTS = (LOSSES, ADD, BACKWARD, STEP, LOADER, LOG)

Changes = tuple[tuple[str, str], ...]


def measure_parts(rounds: int) -> dict[str, list[float]]:
    """Quartiles of the ratio to the bare loop: of the whole loop, of one without any of the parts,
    and of those with one part each."""
    kept = {"all of them": PARTS, "none of them": (), **{part: (part,) for part in PARTS}}
    projects = {name: load_project("plain", changes(parts)) for name, parts in kept.items()}
    case = Case(MODELS[0], "plain")
    ratios: dict[str, list[float]] = {name: [] for name in kept}
    with on_one_core():
        for _ in range(rounds):
            for name, project in projects.items():
                found = run(lambda *what, project=project: train_project(project, *what), case)
                ratios[name].append(found.ratio)
    return {name: spread(values) for name, values in ratios.items()}


def changes(kept: Collection[str]) -> Changes:
    """Lines of train.py, and what they become where some parts give way to PyTorch's own."""
    lines = {
        LOSSES: (', reduction="none")', ")"),
        ADD: ("train_loss.add(losses)", "pass"),
        STEP: ("optimizer.step()", "optimizer.optimizer.step()"),
        LOADER: (
            "in remaining_batches(accelerator, train_loader, progress, batches_per_epoch)",
            "in train_loader.base_dataloader",
        ),
        LOG: ("if progress.update % config.log_every == 0:", "if False:"),
    }
    loss = "losses.mean()" if LOSSES in kept else "losses"
    backward = f"accelerator.backward({loss})" if BACKWARD in kept else f"{loss}.backward()"
    found = [change for part, change in lines.items() if part not in kept]
    found.append(("accelerator.backward(losses.mean())", backward))
    if ADD in kept and LOSSES not in kept:
        found.append(("train_loss.add(losses)", "train_loss.add(losses[None])"))
    return tuple(found)
