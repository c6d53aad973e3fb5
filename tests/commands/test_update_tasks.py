"""`scaffold update` carries every task, with its features and its options, and keeps edits."""

from pathlib import Path

import pytest

from scaffold.answers.catalog import Value, as_typed
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from support.combinations import (
    as_many_as_possible,
    given_for,
    in_turns,
    needed_for,
    own_choices,
    shared_bundles,
)
from support.command_line import Cli
from support.files import replace_in
from support.rendering import render

CATALOG = load_catalog()
BUNDLES = shared_bundles(apart=3, each=2)
BUNDLES |= {f"{task}: all": (task, []) for task in CATALOG.tasks}  # found when they are needed
OWN_LINE = '    log("a line of my own")\n'
BEHIND = "    log(describe(accelerator, model, config, total_steps))\n"


def new_project(cli: Cli, folder: Path, task: str) -> None:
    settings = [f"--set={key}={as_typed(value)}" for key, value in given_for(CATALOG, []).items()]
    given = [f"--set=project.task={task}", *settings]
    assert cli("new", folder, "--yes", *given).code == 0
    replace_in(folder / "train.py", BEHIND, BEHIND + OWN_LINE)
    (folder / "notes.md").write_text("mine\n")


def assert_merged(folder: Path, given: dict[str, Value]) -> None:
    """The new render, with the line of the owner in it."""
    for name, rendered in render(given).items():
        found = (folder / name).read_text()
        if name == "train.py":
            assert found.count(OWN_LINE) == 1
            found = found.replace(OWN_LINE, "")
        assert found == rendered, name
    assert (folder / "notes.md").read_text() == "mine\n"


@pytest.mark.parametrize("label", in_turns(BUNDLES, 16))
def test_features_come_and_go(label: str, cli: Cli, tmp_path: Path) -> None:
    task, on = BUNDLES[label]
    on = on or as_many_as_possible(CATALOG, task=task)
    folder = tmp_path / "example"
    new_project(cli, folder, task)
    before = given_for(CATALOG, [], project__task=task)
    after = given_for(CATALOG, on, project__task=task)
    for given in (after, before):
        # what it runs on would stay as it is, and a model that a feature needs
        stays = {"hardware.distributed_type", "hardware.num_processes"}
        stays |= {key for key in after if key.startswith(f"{task}.")}
        answers = resolve(CATALOG, given)
        given |= {key: answers[key] for key in stays}
        result = cli("update", folder, *(f"--set={key}={as_typed(v)}" for key, v in given.items()))
        assert result.code == 0, result.out + result.err
        assert_merged(folder, given)


CHOICES = [(task, *choice) for task, part in CATALOG.tasks.items() for choice in own_choices(part)]


@pytest.mark.parametrize("choice", in_turns(CHOICES, 3), ids="-".join)
def test_choices_of_a_task_change(choice: tuple[str, str, str], cli: Cli, tmp_path: Path) -> None:
    task, key, value = choice
    folder = tmp_path / "example"
    new_project(cli, folder, task)
    changes = {**needed_for(CATALOG, key), key: value}
    result = cli("update", folder, *(f"--set={name}={as_typed(v)}" for name, v in changes.items()))
    assert result.code == 0, result.out + result.err
    given = given_for(CATALOG, [], project__task=task)
    for name, chosen in changes.items():  # a choice may turn features on
        for choice in CATALOG.settings[name].choices:
            if choice.value == chosen:
                given = {key: old for key, old in given.items() if key not in choice.defaults}
    assert_merged(folder, {**given, **changes})
