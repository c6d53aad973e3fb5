"""The commands of `scaffold` beside those of other generators, on the same templates."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from timing import Command, time_in_turns

from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.render.project import build_project

sys.path.insert(0, str(Path(__file__).parent.parent))
from support.rivals import TOOLS, Rival

# an environment of its own: trainite and gradio want different versions of tomlkit
TRAINITE = Path(__file__).parents[2] / ".venv-trainite" / "bin"


def measure_command_line(folder: Path, rounds: int) -> dict[str, dict]:
    """Median seconds of help, new and update, and ratios to `scaffold`'s.

    Copier, cookiecutter and cruft have finished renders as their templates, and nothing to fill
    in; `scaffold` renders and formats its own. An update moves an unedited project to two processes
    and bf16, in git where the tool asks for it. `scaffold` keeps what it has formatted;
    "scaffold, first time" has nothing of the kind. "Typer alone" is a command that does nothing.
    """
    bin_folder = Path(sys.executable).parent
    tools = {
        name: str(bin_folder / name)
        for name in ("scaffold", "copier", "cookiecutter", "cruft", "accelerate")
    }
    tools["trainite"] = str(TRAINITE / "trainite")
    if not Path(tools["trainite"]).is_file():
        raise SystemExit(f"{tools['trainite']} is missing: see tests/benchmarks/README.md")
    folders = (folder / f"project{number}" for number in range(100_000))
    renders = [render({}), render(CHANGED)]

    def plain(*command: str) -> Callable[[], Command]:
        return lambda: (list(command), folder)

    helps = {name: plain(path, "--help") for name, path in tools.items()}
    helps["trainite"] = plain(tools["trainite"], "init", "--help")  # the other one ends with 1
    helps["accelerate"] = plain(tools["accelerate"], "config", "--help")
    smallest = Path(__file__).with_name("smallest_command.py")
    typer_alone = plain(sys.executable, str(smallest), "folder", "--yes")
    helps["import typer"] = plain(sys.executable, "-c", "import typer")
    rivals = {name: Rival(name, folder / name) for name in TOOLS}
    templates = {name: rival.prepare(renders) for name, rival in rivals.items()}

    def new(*command: str) -> Callable[[], Command]:
        return lambda: ([*command, str(next(folders))], folder)

    copier = [tools["copier"], "copy", "--defaults", "--trust", "--quiet", "--data=variant=0"]
    cruft = [tools["cruft"], "create", "--no-input", "--checkout=v0"]
    cookie = [tools["cookiecutter"], "--no-input", "--checkout=v0"]
    source = {name: str(template) for name, (template, _) in templates.items()}

    def first(make: Callable[[], Command]) -> Callable[[], Command]:
        def prepare() -> Command:
            command, where = make()
            return ["env", f"SCAFFOLD_CACHE_DIR={next(folders)}", *command], where

        return prepare

    write_new = new(tools["scaffold"], "new", "--yes")
    news = {
        "scaffold": write_new,
        "scaffold, first time": first(write_new),
        "copier": new(*copier, source["copier"]),
        "cookiecutter": new(*cookie, source["cruft"], "--output-dir"),
        "cruft": new(*cruft, source["cruft"], "--output-dir"),
        "trainite": new(tools["trainite"], "init"),
        "Typer alone": typer_alone,
    }

    def copied(project: Path, *command: str) -> Callable[[], Command]:
        def prepare() -> Command:
            target = next(folders)
            shutil.copytree(project, target, symlinks=True)
            return list(command), target

        return prepare

    ours = folder / "ours"
    write = [tools["scaffold"], "new", "--yes", "--name", "example", str(ours)]
    subprocess.run(write, check=True, capture_output=True)
    settings = [part for key, value in CHANGED.items() for part in ("--set", f"{key}={value}")]
    update = [tools["copier"], "update", "--defaults", "--trust", "--quiet", "--data=variant=1"]
    update_ours = copied(ours, tools["scaffold"], "update", *settings)
    updates = {
        "scaffold": update_ours,
        "scaffold, first time": first(update_ours),
        "copier": copied(templates["copier"][1], *update),
        "cruft": copied(
            templates["cruft"][1], tools["cruft"], "update", "--skip-apply-ask", "--checkout", "v1"
        ),
    }
    for name, prepare in updates.items():
        command, project = prepare()
        subprocess.run(command, cwd=project, check=True, capture_output=True)
        if "bf16" not in (project / "accelerate.yaml").read_text():
            raise ValueError(f"{name} updated nothing")
    updates["Typer alone"] = typer_alone
    return {
        "help": time_in_turns(helps, "scaffold", rounds),
        "new": time_in_turns(news, "scaffold", rounds),
        "update": time_in_turns(updates, "scaffold", rounds),
    }


CHANGED = {"hardware.num_processes": 2, "hardware.mixed_precision": "bf16"}


def render(given: dict[str, object]) -> dict[str, str]:
    catalog = load_catalog()
    return build_project(catalog, resolve(catalog, {"project.name": "example", **given}))
