"""What stands around the code of a project: AGENTS.md, pyproject.toml, the workflow of GitHub."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from examples import all_features
from scaffold.answers.catalog import Value
from scaffold.answers.check import parse_setting
from scaffold.answers.manifests import load_catalog
from scaffold.answers.recipes import recipe_answers
from scaffold.answers.resolve import Answers
from support.files import write_files
from support.rendering import render

TASKS = list(load_catalog().tasks)
PROJECTS: dict[str, Answers] = {
    **{task: {"project.task": task} for task in TASKS},
    "minimal": recipe_answers(load_catalog(), "minimal"),
    "everything": dict(parse_setting(load_catalog(), row) for row in all_features(load_catalog())),
    "slurm": {"hardware.launcher": "slurm"},
    "accumulation": {"training.gradient_accumulation_steps": 4},
}
CI: dict[str, Value] = {
    "features.ci.enabled": True,
    "features.ci.pre_commit": True,
    "features.ci.dev_container": True,
}
WORKFLOW = ".github/workflows/tests.yaml"


@pytest.mark.parametrize("name", PROJECTS)
def test_agents_md_is_short_and_speaks_of_this_project(name: str) -> None:
    """Each file that it names is there, each flag is one of train.py, and each name is defined."""
    files = render(PROJECTS[name])
    text = files["AGENTS.md"]
    assert len(text.splitlines()) <= 30
    quoted = re.findall(r"`([^`]+)`", text)
    named = {word for row in quoted for word in row.split() if re.fullmatch(r"[\w/]+\.\w+", word)}
    commands = [row for row in quoted if row.startswith("python predict.py")]
    asked = {word for row in commands for word in row.split()}  # files of the user
    values = {"config.NAME", "progress.batch", "accelerator.is_main_process"}
    named -= asked - {"predict.py"} | values
    assert {"train.py", "model.py", "data.py"} <= named <= files.keys(), named - files.keys()
    fields = re.findall(r"^    (\w+): ", files.get("config.py", files["train.py"]), re.MULTILINE)
    flags = re.findall(r"--([a-z-]+)", " ".join(row for row in quoted if "train.py" in row))
    flags = [flag for flag in flags if flag not in ("help", "config")]
    assert "output-dir" in flags and {flag.replace("-", "_") for flag in flags} <= {*fields, ""}
    places = re.findall(r"`(build_\w+|Config)` in `(\w+\.py)`", text)
    assert {place for place, _ in places} == {"Config", "build_model", "build_datasets"}
    for defined, file in places:
        assert re.search(rf"^(def|class) {defined}\b", files[file], re.MULTILINE), (defined, file)
    assert ("`states`" in text) == ("states = {" in files["train.py"])
    assert "gather_for_metrics" in files["train.py"]


def test_without_agents_md_nothing_is_left_of_it() -> None:
    on, off = render({}), render({"features.agents_md.enabled": False})
    changed = {name for name in on if on[name] != off.get(name)}
    assert changed == {"AGENTS.md", "README.md", "scaffold.toml"}
    assert not any("agents" in off[name].lower() for name in off if name != "scaffold.toml")
    lines = set(on["README.md"].splitlines()) - set(off["README.md"].splitlines())
    assert len(lines) == 2 and off.keys() == on.keys() - {"AGENTS.md"}


def sources(given: Mapping[str, Value]) -> dict[str, dict[str, str]]:
    """The packages with an index of their own."""
    tool = tomllib.loads(render(given)["pyproject.toml"])["tool"]
    found: dict[str, dict[str, str]] = tool.get("uv", {}).get("sources", {})
    names = [index["name"] for index in tool.get("uv", {}).get("index", ())]
    assert {row["index"] for row in found.values()} == set(names)
    return found


def test_torch_comes_from_the_index_of_its_cpu_builds_if_the_answers_say_cpu() -> None:
    """With all packages that are built for the same torch, and from nowhere else."""
    cpu: dict[str, Value] = {"hardware.use_cpu": True}
    assert sources({}).keys() == set()
    assert sources(cpu).keys() == {"torch"}
    photos = cpu | {"features.augmentation.enabled": True, "features.augmentation.kind": "photo"}
    assert sources(photos).keys() == {"torch", "torchvision"}
    assert "--extra-index-url" in render(cpu)["README.md"]
    assert "--extra-index-url" not in render({})["README.md"]


@pytest.mark.parametrize("name", ["A.b-c_d", "torch"])
def test_uv_and_pip_install_the_same_for_the_tests(name: str) -> None:
    project = tomllib.loads(render({"project.name": name})["pyproject.toml"])
    assert project["dependency-groups"]["dev"] == [f"{name}[test]"]
    assert project["project"]["optional-dependencies"]["test"] == ["pytest>=8"]


def test_github_can_read_the_workflow(tmp_path: Path) -> None:
    project = write_files(tmp_path, render(CI))
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    schema = "vendor.github-workflows"
    result = subprocess.run([*check, schema, project / WORKFLOW], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    flow = yaml.load((project / WORKFLOW).read_text(), yaml.BaseLoader)
    assert flow["permissions"] == {"contents": "read"}
    [job] = flow["jobs"].values()
    installed, *steps = (step["run"] for step in job["steps"] if "run" in step)
    assert installed.startswith("pip install -e '.[test]'")
    assert steps[:2] == ["ruff check .", "pytest"] and "scaffold check" in steps[2]
    about = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    extra = about["optional-dependencies"]["test"]
    assert [row.split(">")[0] for row in extra] == ["pytest", "ruff"]
    for step in (steps[0], steps[2]):
        done = subprocess.run(["bash", "-ec", step], cwd=project, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_pre_commit_and_the_container_are_a_choice() -> None:
    more = {".pre-commit-config.yaml", ".devcontainer/devcontainer.json"}
    files = render(CI)
    assert files.keys() - render({}).keys() == {WORKFLOW, *more}
    assert render({"features.ci.enabled": True}).keys() - render({}).keys() == {WORKFLOW}
    container = json.loads(files[".devcontainer/devcontainer.json"])
    assert container["name"] == "example"
    assert container["postCreateCommand"] == "pip install -e '.[test]'"
    [repo] = yaml.safe_load(files[".pre-commit-config.yaml"])["repos"]
    [hook] = repo["hooks"]
    assert (repo["repo"], hook["language"]) == ("local", "system")
    assert hook["entry"].startswith("ruff check")
