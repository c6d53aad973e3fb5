"""How long it takes from the start of a process to its first update, and to its help."""

import sys
from pathlib import Path

from contenders.scaffold_project import project_files
from steps import CONTENDERS
from timing import time_in_turns

HERE = Path(__file__).parent
# the project imports its model and data as its own, without the benchmark's package
MODEL = "from cases import MODELS\n\n\ndef build_model(config):\n    return MODELS[0].build()\n"
DATA = """from cases import MODELS, Case


def build_loaders(config):
    case = Case(MODELS[0], "plain")
    dataset = case.dataset()
    return case.loader(dataset), case.loader(dataset), case.loader(dataset)
"""


def measure_startup(folder: Path, rounds: int) -> dict[str, dict]:
    """Seconds to the first update and to the help, and ratios to the bare script's."""
    project = folder / "startup"
    project.mkdir()
    for name, text in {**project_files("plain"), "model.py": MODEL, "data.py": DATA}.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    (project / "cases.py").write_text((HERE / "cases.py").read_text())
    runs = iter(range(10_000))

    def scaffold() -> tuple[list[str], Path]:
        options = ["--output-dir", f"runs/{next(runs)}"]
        return [sys.executable, str(HERE / "first_update.py"), "train.py", *options], project

    def other(module: str) -> tuple[list[str], Path]:
        return [sys.executable, str(HERE / "first_update.py"), "train_one.py", module], HERE

    first = {"bare": lambda: other("bare"), "scaffold": scaffold}
    for name, module in CONTENDERS.items():
        if name != "scaffold":
            first[name] = lambda module=module: other(module)
    helps = {
        "bare": lambda: ([sys.executable, "train_one.py", "--help"], HERE),
        "scaffold": lambda: ([sys.executable, "train.py", "--help"], project),
    }
    return {
        "first update": time_in_turns(first, "bare", rounds),
        "--help": time_in_turns(helps, "bare", rounds),
    }
