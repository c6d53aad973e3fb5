"""What is published holds all that it needs."""

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scaffold import __version__
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.project.pristine import PRISTINE
from scaffold.render.project import build_project
from support.files import read_files
from support.paths import REPOSITORY, TEMPLATES


def template_files() -> list[str]:
    return [name for name in read_files(TEMPLATES) if "__pycache__" not in name]


def run(*command: str | Path, cwd: Path) -> str:
    env = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, REPOSITORY, cwd=folder)
    return folder


def test_the_wheel_holds_the_package_and_all_templates(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    assert wheel.name == f"torch_scaffold-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        for name in template_files():
            content = archive.read(f"scaffold/templates/{name}")
            assert content == (TEMPLATES / name).read_bytes(), name
    packaged = [name for name in names if name.startswith("scaffold/templates/")]
    assert len(packaged) == len(template_files()) >= 40
    modules = {f"scaffold/{path.name}" for path in (REPOSITORY / "scaffold").glob("*.py")}
    assert modules == {name for name in names if name.count("/") == 1 and name[-3:] == ".py"}
    for part in names:
        assert part.startswith(("scaffold/", "torch_scaffold-")), part
        assert "__pycache__" not in part and "tests" not in part.split("/")[:1]
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_readme_states_the_size_of_the_wheel(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    size = f"the wheel is {wheel.stat().st_size / 1e6:.1f} MB"
    assert size in (REPOSITORY / "README.md").read_text(encoding="utf-8")


def test_the_source_distribution_holds_what_builds_it(built: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "scaffold/cli.py"} <= names
    assert {f"templates/{name}" for name in template_files()} <= names
    others = [name for name in names if name.startswith(("tests/", "generated_examples/", "."))]
    assert set(others) <= {".gitignore"}


def required(distribution: metadata.Distribution, found: dict[str, metadata.Distribution]) -> None:
    """Adds what a distribution requires here without an extra, and what that requires."""
    for row in distribution.requires or ():
        requirement = Requirement(row)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        if requirement.name not in found:
            found[requirement.name] = metadata.distribution(requirement.name)
            required(found[requirement.name], found)


def link_requirements(wheel: Path, packages: Path) -> None:
    """Put what the wheel requires into another environment: links to what is installed here."""
    found: dict[str, metadata.Distribution] = {}
    [about] = (path for path in zipfile.Path(wheel).iterdir() if path.name.endswith(".dist-info"))
    required(metadata.PathDistribution(about), found)  # type: ignore[arg-type]
    assert {"typer", "click", "black", "tomlkit"} <= found.keys()
    for distribution in found.values():
        for name in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            if not (packages / name).exists():
                (packages / name).symlink_to(str(distribution.locate_file(name)))


@pytest.mark.parametrize(
    "requirements", ["linked", pytest.param("installed", marks=pytest.mark.sweep)]
)
def test_it_works_where_only_the_wheel_is_installed(
    requirements: str, built: Path, tmp_path: Path
) -> None:
    """Without the repository, and without torch."""
    (wheel,) = built.glob("*.whl")
    venv.create(tmp_path / "venv")
    scripts = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    python, here = scripts / "python", tmp_path / "here"
    here.mkdir()
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    options = ["--quiet", "--no-compile"]
    if requirements == "linked":
        packages = run(python, "-c", "import site; print(site.getsitepackages()[0])", cwd=here)
        link_requirements(wheel, Path(packages.strip()))
        options.append("--no-index")
    run(*pip, "install", *options, wheel, cwd=here)
    where = run(python, "-c", "import scaffold; print(scaffold.__file__)", cwd=here)
    assert Path(where.strip()).is_relative_to(tmp_path / "venv")
    missing = "from importlib.util import find_spec as f; print(f('torch'), f('accelerate'))"
    assert run(python, "-c", missing, cwd=here) == "None None\n"
    assert run(scripts / "scaffold", "--version", cwd=here) == f"scaffold {__version__}\n"
    run(scripts / "scaffold", "new", "demo", "--yes", cwd=here)
    catalog = load_catalog()
    files = build_project(catalog, resolve(catalog, {"project.name": "demo"}))
    found = {name: content.decode() for name, content in read_files(here / "demo").items()}
    pristine, expected = (json.loads(some.pop(PRISTINE)) for some in (found, files))
    assert found == files
    for some in (pristine, expected):  # which templates: a wheel has no commit
        some.pop("templates", None)
        del some["digest"]
    assert pristine == expected
