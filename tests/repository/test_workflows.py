"""The workflows run what is there, test the promised Pythons, and publish without a token."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from scaffold import __version__
from support.paths import REPOSITORY

GITHUB = REPOSITORY / ".github"
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
WORKFLOWS: dict[str, dict[str, Any]] = {
    path.stem: yaml.load(path.read_text(), yaml.BaseLoader)  # in which `on` is no truth value
    for path in sorted((GITHUB / "workflows").iterdir())
}
JOBS = [(job, parts) for flow in WORKFLOWS.values() for job, parts in flow["jobs"].items()]
STEPS = [step for _, job in JOBS for step in job["steps"]]
COMMANDS = [command for step in STEPS for command in step.get("run", "").splitlines()]


def test_all_promised_pythons_are_tested() -> None:
    jobs = WORKFLOWS["tests"]["jobs"]
    versions = jobs["tests"]["strategy"]["matrix"]["python"]
    rows = [row.rpartition(" :: ")[2] for row in PROJECT["classifiers"] if ":: 3." in row]
    assert versions == rows and len(versions) >= 4
    assert PROJECT["requires-python"] == f">={versions[0]}"
    [python] = [step["with"] for step in jobs["lowest"]["steps"] if "with" in step]
    assert python["python-version"] == versions[0]
    assert jobs["lowest"]["steps"][-1]["env"] == {"PYTHON": f"python{versions[0]}"}


def test_what_runs_is_there() -> None:
    words = {word for command in COMMANDS for word in shlex.split(command)}
    made = re.compile(r"\$|dist/|clean/|\.venv-")  # by a step before it
    files = {word for word in words if "/" in word and not made.match(word)}
    ours = {f".ci/{name}" for name in ("test", "lowest", "setup", "extras", "browser")}
    assert ours | {"tests/benchmarks/run.py"} <= files
    assert [name for name in files if not (REPOSITORY / name).is_file()] == []
    extras = re.findall(r"bash \.ci/setup (\S+)", "\n".join(COMMANDS))
    assert extras and set(",".join(extras).split(",")) <= PROJECT["optional-dependencies"].keys()


def test_what_the_documentation_installs_is_resolved() -> None:
    """`.ci/extras` tries all that the pages name, and all extras in one."""
    pages = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "tests").rglob("*.md")]
    text = "".join(path.read_text() for path in pages)
    found = re.findall(r"pip install (?:-e )?'\.\[([a-z,]+)\]", text)
    named = {extra for extras in found for extra in extras.split(",")}
    assert len(found) >= 2 and named <= PROJECT["optional-dependencies"].keys()
    assert "bash .ci/extras" in COMMANDS


def test_the_nightly_parts_are_all_sweeps() -> None:
    job = WORKFLOWS["nightly"]["jobs"]["sweep"]
    assert WORKFLOWS["nightly"]["jobs"]["browser"]["steps"][-1]["run"] == "bash .ci/browser"
    parts = {part["tests"] for part in job["strategy"]["matrix"]["include"]}
    one = "tests/tasks/test_tasks.py"
    assert parts == {
        '-m "sweep and not train"',
        f'-m "sweep and train" {one}',
        f'-m "sweep and train" --ignore {one}',
    }
    assert (REPOSITORY / one).is_file()


def test_no_workflow_may_do_more_than_it_needs() -> None:
    assert WORKFLOWS.keys() == {"tests", "nightly", "weekly", "release", "pages"}
    for name, flow in WORKFLOWS.items():
        assert flow["permissions"] == {"contents": "read"}, name
    more = {name: job["permissions"] for name, job in JOBS if "permissions" in job}
    assert more == {
        "publish": {"id-token": "write"},
        "deploy": {"pages": "write", "id-token": "write"},
    }
    assert all("timeout-minutes" in job for _, job in JOBS)
    uses = {step["uses"] for step in STEPS if "uses" in step}
    others = [name for name in uses if not re.fullmatch(r"actions/[\w-]+@v\d+", name)]
    assert others == ["pypa/gh-action-pypi-publish@release/v1"]


def test_a_release_is_published_without_a_secret() -> None:
    flow = WORKFLOWS["release"]
    assert flow["on"] == {"push": {"tags": ["v*"]}}
    publish = flow["jobs"]["publish"]
    assert (publish["needs"], publish["environment"]) == ("build", "pypi")
    assert publish["steps"][-1] == {"uses": "pypa/gh-action-pypi-publish@release/v1"}
    for path in (GITHUB / "workflows").iterdir():
        assert not re.search(r"secrets|token:(?! write)|password", path.read_text()), path.name


@pytest.mark.skipif(shutil.which("bash") is None, reason="GitHub runs it by bash")
@pytest.mark.parametrize("tag", [f"v{__version__}", __version__, f"v{__version__}.1"])
def test_only_the_tag_of_the_version_is_released(tag: str) -> None:
    steps = WORKFLOWS["release"]["jobs"]["build"]["steps"]
    [command] = [step["run"] for step in steps if step.get("name") == "The tag is the version"]
    command = command.replace("python", shlex.quote(sys.executable))
    env = {**os.environ, "GITHUB_REF_NAME": tag}
    result = subprocess.run(["bash", "-e", "-c", command], cwd=REPOSITORY, env=env, check=False)
    assert (result.returncode == 0) == (tag == f"v{__version__}")


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ("github-workflows", "workflows/*.yml"),
        ("github-issue-forms", "ISSUE_TEMPLATE/[!c]*.yml"),
        ("github-issue-config", "ISSUE_TEMPLATE/config.yml"),
    ],
)
def test_github_can_read_it(schema: str, pattern: str) -> None:
    """By schemas that are part of check-jsonschema."""
    files = sorted(GITHUB.glob(pattern))
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    result = subprocess.run([*check, *files], capture_output=True, text=True)
    assert files and result.returncode == 0, result.stdout + result.stderr


def test_links_of_these_pages_lead_somewhere() -> None:
    for page in GITHUB.glob("*.md"):
        targets = re.findall(r"\]\((?!http)(.+?)\)", page.read_text())
        assert [name for name in targets if not (GITHUB / name).is_file()] == [], page.name
    assert "(.github/CONTRIBUTING.md)" in (REPOSITORY / "README.md").read_text()


def test_the_extra_train_has_what_the_examples_need() -> None:
    """A clean machine has nothing else when the rendered projects train."""
    installed = {Requirement(row).name for row in PROJECT["optional-dependencies"]["train"]}
    projects = sorted((REPOSITORY / "generated_examples").glob("*/pyproject.toml"))
    assert len(projects) > 20
    for path in projects:
        rows = tomllib.loads(path.read_text())["project"]["dependencies"]
        assert {Requirement(row).name for row in rows} <= installed, path.parent.name
