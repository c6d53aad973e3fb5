"""The project that `scaffold new` writes, with the model and the data of the benchmark.

Its train.py is what a user has, to the byte: only model.py and data.py are others. The project has
`fast_steps`, as one with a tiny model should.
"""

import importlib
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from accelerate.optimizer import AcceleratedOptimizer
from cases import ACCUMULATED, EMA_DECAY, LEARNING_RATE, LOG_EVERY, MAX_NORM, WEIGHT_DECAY, Case
from torch import nn
from torch.utils.data import Dataset

from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.render.project import build_project

OPTIONS = {
    "plain": {},
    "accumulation": {"training.gradient_accumulation_steps": ACCUMULATED},
    "clipping": {"features.clipping.enabled": True, "features.clipping.max_norm": MAX_NORM},
    "bf16": {"hardware.mixed_precision": "bf16"},
    "EMA": {"features.ema.enabled": True, "features.ema.decay": EMA_DECAY},
    "logging": {},
    "preemption": {"features.preemption.enabled": True},
}
MODEL = """
current = {}  # what the benchmark gives: the model, the data, and how it makes loaders of it


def build_model(config):
    return current["model"]
"""
DATA = """
from torch.utils.data import Subset

from model import current


def build_loaders(config):
    case, dataset = current["case"], current["dataset"]
    few = Subset(dataset, range(case.model.batch_size))
    return case.loader(dataset), case.loader(few), case.loader(few)
"""


def project_files(option: str) -> dict[str, str]:
    """The files of the project for an option, by name."""
    given = {
        "project.name": "benchmark",
        "project.task": "image_classification",
        "features.schedule.enabled": False,  # no contender changes its learning rate
        "features.clipping.enabled": False,
        "features.fast_steps.enabled": True,  # for the tiny model: see its page
        **OPTIONS[option],
    }
    catalog = load_catalog()
    return {**build_project(catalog, resolve(catalog, given)), "model.py": MODEL, "data.py": DATA}


@dataclass(frozen=True)
class Project:
    """The imported project of an option."""

    train: ModuleType
    current: dict[str, object]  # what its model and data come from


@contextmanager
def undoing_workarounds() -> Iterator[None]:
    """The workarounds of the project do not speed up the others."""
    known, zero_grad = set(sys.modules), AcceleratedOptimizer.zero_grad
    try:
        yield
    finally:
        AcceleratedOptimizer.zero_grad = zero_grad  # type: ignore[method-assign]
        for name in sys.modules.keys() - known:
            if sys.modules[name] is None:  # a package that nobody is to search for
                del sys.modules[name]


@cache
def load_project(option: str, changes: tuple[tuple[str, str], ...] = ()) -> Project:
    """The project of an option, with changes to its train.py, each of which must find its place."""
    folder = Path(tempfile.mkdtemp(prefix="benchmark_"))
    files = {name: text for name, text in project_files(option).items() if "/" not in name}
    for old, new in changes:
        if old not in files["train.py"]:
            raise ValueError(f"train.py has no {old!r}")
        files["train.py"] = files["train.py"].replace(old, new)
    for name, text in files.items():
        Path(folder, name).write_text(text)
    names = [Path(name).stem for name in files if name.endswith(".py")]
    sys.path.insert(0, str(folder))
    try:
        train, current = importlib.import_module("train"), importlib.import_module("model").current
    finally:
        sys.path.remove(str(folder))
        for name in names:  # the next option has modules of the same names
            sys.modules.pop(name, None)
    return Project(train, current)


def train(case: Case, model: nn.Module, dataset: Dataset) -> None:
    train_project(load_project(case.option), case, model, dataset)


def train_project(project: Project, case: Case, model: nn.Module, dataset: Dataset) -> None:
    project.current.update(case=case, model=model, dataset=dataset)
    with tempfile.TemporaryDirectory() as folder, undoing_workarounds():
        config = project.train.Config(
            epochs=1,
            batch_size=case.model.batch_size,
            learning_rate=LEARNING_RATE,
            weight_decay=WEIGHT_DECAY,
            log_every=LOG_EVERY if case.logs else case.steps + 1,  # as the others
            output_dir=Path(folder),
        )
        project.train.main(config)
    project.current.clear()
