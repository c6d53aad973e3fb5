"""How long it takes from the start of a process to its first step."""

import sys
from pathlib import Path

from contenders.scaffold_project import project_files
from steps import CONTENDERS
from timing import time_in_turns

HERE = Path(__file__).parent
# the project imports its model and data as its own, without the benchmark's package
MODEL = """from cases import MODELS


def build_model(config):
    return MODELS[{number}].build()
"""
DATA = """from cases import MODELS, Case


def build_loaders(config):
    case = Case(MODELS[{number}], "plain")
    dataset = case.dataset({epochs})
    return case.loader(dataset), case.loader(dataset), case.loader(dataset)
"""


def write_project(folder: Path, number: int = 0, epochs: int = 1, option: str = "plain") -> Path:
    """The folder of a project with one of the models, and so many times the data of a run."""
    sources = {
        "model.py": MODEL.format(number=number),
        "data.py": DATA.format(number=number, epochs=epochs),
        "cases.py": (HERE / "cases.py").read_text(),
    }
    for name, text in {**project_files(option), **sources}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def measure_startup(folder: Path, rounds: int) -> dict[str, dict]:
    """Seconds to the first step, and ratios to the bare script's."""
    project = write_project(folder / "startup")
    runs = iter(range(10_000))

    def scaffold() -> tuple[list[str], Path]:
        options = ["--output-dir", f"runs/{next(runs)}"]
        return [sys.executable, str(HERE / "first_step.py"), "train.py", *options], project

    def other(module: str) -> tuple[list[str], Path]:
        return [sys.executable, str(HERE / "first_step.py"), "train_one.py", module], HERE

    first = {"bare": lambda: other("bare"), "scaffold": scaffold}
    for name, module in CONTENDERS.items():
        if name != "scaffold":
            first[name] = lambda module=module: other(module)
    return {"first step": time_in_turns(first, "bare", rounds)}
