"""Updates of projects whose owner moved the modules: new code follows them, and their imports."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.structure import trainer_class
from support.command_line import Cli
from support.files import read_files

MODULES = (
    *("callbacks", "checkpoint", "config", "data", "files"),
    *("metrics", "model", "weights", "workarounds"),
)


@pytest.fixture
def project(cli: Cli, tmp_path: Path) -> Path:
    assert cli("new", tmp_path / "digits", "--yes").code == 0
    return tmp_path / "digits"


def move(folder: str, inside: str, outside: str | None, *, script: bool) -> Callable[[Path], None]:
    """Move the modules to a folder; there they import each other with `inside` in front.

    Other files have `outside` in front, or the name of a package to import a whole module from.
    """

    def edit(project: Path) -> None:
        modules = [*MODULES, *(["train"] if script else [])]
        pattern = re.compile(rf"(?m)^( *)from ({'|'.join(modules)}) import")
        (project / folder).mkdir(parents=True)
        for path in sorted(project.rglob("*.py")):
            text = path.read_text()
            own = path.parent == project and path.stem in modules
            front = inside if own else outside
            if front is not None:
                text = pattern.sub(rf"\1from {front}\2 import", text)
            if outside and script and not own:
                text = re.sub(r"(?m)^import train$", f"from {outside[:-1]} import train", text)
            (project / folder / path.name if own else path).write_text(text)
            if own:
                path.unlink()
        if inside:
            (project / folder / "__init__.py").write_text("")

    return edit


LAYOUTS = {
    "src, with the folder": ("src", "src.", "src.", True),
    "src, relative": ("src", ".", "src.", True),
    "src, on the path": ("src", "", None, True),
    "a package in src": ("src/net", "net.", "net.", True),
    "a package, relative": ("net", ".", "net.", True),
    "a package beside train.py": ("net", "net.", "net.", False),
    "a relative package beside train.py": ("net", ".", "net.", False),
}
GIVEN = ["features.preemption.enabled=true", "features.mixing.enabled=true"]


@pytest.mark.parametrize("name", LAYOUTS)
def test_new_code_follows(cli: Cli, project: Path, name: str) -> None:
    folder, inside, outside, script = LAYOUTS[name]
    move(folder, inside, outside, script=script)(project)
    before = read_files(project)
    settings = [part for setting in GIVEN for part in ("--set", setting)]
    result = cli("update", project, *settings)
    assert result.code == 0, result.out
    assert not (project / "mixing.py").exists() and not (project / "preemption.py").exists()
    modules = [*MODULES, "mixing", "preemption", *(["train"] if script else [])]
    for path in project.rglob("*.py"):
        own = path.parent == project / folder
        front = re.escape(inside if own else outside or "")
        where = path.relative_to(project).as_posix()
        for line in re.findall(r"(?m)^ *from .*", path.read_text()):
            found = re.match(
                rf" *from (?!torch|importlib)([\w.]*?)({'|'.join(modules)}) import", line
            )
            assert not found or found[1] == front.replace("\\", ""), f"{where}: {line}"
    code = (project / folder / "data.py").read_text()
    assert f"from {inside}signals import leave_signals_to_training\n" in code
    absolute = (outside or "") + "preemption.SIGNALS"
    assert f'setattr("{absolute}"' in (project / "tests" / "conftest.py").read_text()
    assert cli("update", project).out.startswith("Nothing to do")
    off = [part.replace("true", "false") for part in settings]
    result = cli("update", project, *off)
    assert result.code == 0, result.out
    changed = {"scaffold.toml", ".scaffold/pristine.json", ".scaffold/undo.json"}
    now = read_files(project)
    assert {path for path in before if now.get(path) != before[path]} <= changed
    assert now.keys() - before.keys() <= changed | {".scaffold/.gitignore"}


def test_new_scripts_start_the_program_where_it_is(cli: Cli, project: Path) -> None:
    move("src", "", None, script=True)(project)
    assert cli("update", project, "--set", "hardware.launcher=slurm").code == 0
    text = (project / "train.sbatch").read_text()
    assert "python src/train.py --resume auto" in text and "sbatch train.sbatch" in text
    assert cli("update", project, "--set", "hardware.num_processes=4").code == 0
    assert "src/train.py" in (project / "train.sbatch").read_text()
    assert cli("update", project, "--set", "hardware.launcher=accelerate").code == 0
    assert not (project / "train.sbatch").exists()


def test_modules_in_several_folders(cli: Cli, project: Path) -> None:
    """Where no folder has most of the modules, a new one stays in the root."""
    for name in ("data", "model"):
        (project / name).mkdir()
        (project / f"{name}.py").rename(project / name / f"{name}.py")
        for path in project.rglob("*.py"):
            text = re.sub(
                rf"(?m)^from {name} import", f"from {name}.{name} import", path.read_text()
            )
            path.write_text(text)
    assert cli("add", "mixing", project).code == 0
    assert (project / "mixing.py").is_file()
    assert "from mixing import blend, mix\n" in (project / "train.py").read_text()


def test_a_loop_in_a_class_in_a_file_of_another_name(cli: Cli, project: Path) -> None:
    """Hardly a line is as it was generated, but most statements are."""
    files = {"train.py": (project / "train.py").read_text()}
    trainer_class()(files)
    (project / "main_train.py").write_text(files["train.py"])
    (project / "train.py").unlink()
    assert "moved, edited: train.py -> main_train.py" in cli("status", project).out
    result = cli("add", "ema", project)
    assert result.code == 0, result.out
    assert not (project / "train.py").exists()
    assert "self.ema.update()\n" in (project / "main_train.py").read_text()


OWN_LOOP = """
class Fit:
    def __init__(self, args):
        self.net = build_model(args)
        self.opt = torch.optim.AdamW(self.net.parameters())

    def fit(self, loader):
        for x, y in loader:
            self.opt.zero_grad()
            compute_loss(self.net(x), y).mean().backward()
            self.opt.step()
"""


def test_the_change_of_a_rewritten_loop_is_shown(cli: Cli, project: Path) -> None:
    text = (project / "train.py").read_text()
    loss = text[text.index("def compute_loss") : text.index("@torch.no_grad")]
    (project / "fit.py").write_text(f"import torch\n\n\n{loss}{OWN_LOOP}")
    for name in ("train.py", "checkpoint.py"):  # of the second, no code is left
        (project / name).unlink()
    before = read_files(project)

    result = cli("update", project, "--set", "training.optimizer=sgd")
    assert result.code == 1
    assert "train.py: you deleted it." in result.out
    assert "its code is in fit.py now" in result.out and "SGD(" in result.out
    assert read_files(project)["fit.py"] == before["fit.py"]
    cli("undo", project)

    settings = ["hardware.distributed_type=MULTI_GPU", "hardware.num_processes=2"]
    settings.append("hardware.sharding=fsdp")  # changes checkpoint.py
    result = cli("update", project, *(part for row in settings for part in ("--set", row)))
    assert "checkpoint.py stays deleted" in result.out
    assert "checkpoint.py: you deleted it" not in result.out


def test_a_deleted_script_stays_deleted_without_a_warning(cli: Cli, project: Path) -> None:
    for name in ("predict.py", "tests/test_predict.py"):
        (project / name).unlink()
    result = cli("update", project, "--set", "hardware.mixed_precision=bf16")
    assert result.code == 0, result.out
    assert "predict.py stays deleted, as you left it." in result.out
