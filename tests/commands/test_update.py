"""`scaffold update`, `add`, `remove`, `undo` and `diff --incoming`, as people use them."""

import json
import re
import resource
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

import scaffold.commands.update
import scaffold.project.origin
from scaffold.answers.manifests import load_catalog
from scaffold.merge.conflicts import SHORTENED
from scaffold.project.journal import UNDO
from scaffold.project.pristine import PRISTINE, read_pristine, write_pristine
from support.command_line import Cli, run_cli
from support.files import add_answers, read_files, write_files
from support.files import replace_in as edit

STEP = "            optimizer.step()\n"


@pytest.fixture
def project(cli: Cli, tmp_path: Path) -> Path:
    folder = tmp_path / "digits"
    assert cli("new", folder, "--yes").code == 0
    return folder


def answer(folder: Path, key: str) -> object:
    return read_pristine(folder).answers[key]


def test_answers_changed_in_the_file_are_applied(cli: Cli, project: Path) -> None:
    settings = project / "scaffold.toml"
    ours = '[hardware]\nmixed_precision = "bf16"  # ours\n\n[training]\nepochs = 7\n'
    add_answers(settings, ours)
    result = cli("update", project)
    assert result.code == 0
    assert 'hardware.mixed_precision: "no" -> "bf16"' in result.out
    assert "epochs: int = 7" in (project / "config.py").read_text()
    assert "mixed_precision: 'bf16'" in (project / "accelerate.yaml").read_text()
    assert settings.read_text().endswith(f"\n{ours}")
    assert cli("update", project).out.startswith("Nothing to do")
    edit(settings, "epochs = 7\n", "")
    assert "training.epochs: 7 -> 20" in cli("update", project).out, "it has its default again"
    assert "epochs: int = 20" in (project / "config.py").read_text()


def test_typed_options_win_over_the_file(cli: Cli, project: Path) -> None:
    add_answers(project / "scaffold.toml", "[training]\nepochs = 7\n")
    assert cli("update", project, "--epochs", "9", "--set", "training.seed=3").code == 0
    assert (answer(project, "training.epochs"), answer(project, "training.seed")) == (9, 3)
    assert "epochs = 9\nseed = 3" in (project / "scaffold.toml").read_text()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--num-processes", "4"], ("MULTI_GPU", 4, False)),
        (["--num-processes", "4", "--use-cpu"], ("MULTI_CPU", 4, True)),
        (["--distributed-type", "MULTI_CPU"], ("MULTI_CPU", 2, True)),
    ],
)
def test_hardware_follows_from_what_is_new(
    given: list[str], expected: tuple[object, ...], cli: Cli, project: Path
) -> None:
    keys = [f"hardware.{name}" for name in ("distributed_type", "num_processes", "use_cpu")]
    before = read_files(project)
    assert cli("update", project, *given).code == 0
    assert tuple(answer(project, key) for key in keys) == expected
    assert cli("update", project, "--num-processes", "1", "--no-use-cpu").code == 0
    assert tuple(answer(project, key) for key in keys) == ("NO", 1, False)
    assert before.items() <= read_files(project).items()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--set", "training.epochs=none"], "training.epochs"),
        (["--set", "hardware.precision=bf16"], "hardware.mixed_precision"),
        (["--distributed-type", "NO", "--num-processes", "4"], "4 processes need"),
        (["a broken file"], "scaffold.toml: is not valid TOML"),
    ],
)
def test_answers_that_are_not_allowed_change_nothing(
    given: list[str], says: str, cli: Cli, project: Path
) -> None:
    if given == ["a broken file"]:
        add_answers(project / "scaffold.toml", "[training]\nepochs = = 20\n")
        given = ["--seed", "3"]
    before = read_files(project)
    result = cli("update", project, *given)
    assert (result.code, result.out) == (2, "") and says in result.err
    assert read_files(project) == before


def test_features_are_added_and_removed(cli: Cli, project: Path) -> None:
    before = read_files(project)
    result = cli("add", "ema", project, "--set", "features.ema.decay=0.9")
    assert result.code == 0
    assert re.search(r"ema_decay: \S+ = 0\.9 ", (project / "config.py").read_text())
    assert cli("remove", "ema", project).code == 0
    assert cli("add", "mixed_precision", project).code == 0
    assert answer(project, "hardware.mixed_precision") == "bf16"
    assert cli("remove", "mixed_precision", project).code == 0
    assert cli("update", project, "--set", "features.ema.decay=0.99").code == 0
    assert cli("remove", "ema", project).code == 0
    assert before.items() <= read_files(project).items()


def test_several_features_are_switched_at_once(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_files(project)
    assert cli("add", "ema", "tracker", project).code == 0
    assert answer(project, "features.ema.enabled") and answer(project, "features.tracker.enabled")
    assert cli("remove", "tracker", "ema", "--project", project).code == 0
    monkeypatch.chdir(project)
    assert before.items() <= read_files(project).items()
    (project / "ema").mkdir()  # the name of a feature is that of a feature
    assert cli("add", "tracker", "ema").code == 0
    assert cli("remove", "ema").code == 0
    assert answer(project, "features.tracker.enabled")
    refused = cli("add", ".")
    assert refused.code == 2 and "name the features first" in refused.err
    assert "there is no such folder" in cli("add", "ema", "../other").err
    assert "did you mean ema?" in cli("add", "tracker", "emo").err


def test_what_a_feature_needs_is_turned_on_and_told(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "net"
    assert cli("new", folder, "--recipe", "minimal").code == 0
    result = cli("add", "unfreezing", "search", folder)
    assert result.code == 0
    assert "metrics_file is turned on too: search needs it." in result.err
    assert "layer_rates is turned on too: unfreezing needs it." in result.err
    for name in ("unfreezing", "layer_rates", "search", "metrics_file"):
        assert answer(folder, f"features.{name}.enabled") is True
    refused = cli("remove", "metrics_file", folder)
    assert refused.code == 2 and "features.search" in refused.err
    off = "features.checkpoints.enabled=false"
    refused = cli("add", "save_on_error", folder, "--set", off)
    assert refused.code == 2 and "needs the feature checkpoints" in refused.err


def test_newer_templates_reach_an_edited_project(
    cli: Cli, project: Path, templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(project / "train.py", STEP, f"{STEP}            print('mine')\n")
    files = templates / "base/complete"
    edit(files / "metrics.py", "    def read(", "    # newer\n    def read(")
    edit(files / "train.py", "# a new order in each epoch\n", "# shuffle again\n")
    monkeypatch.setattr(scaffold.commands.update, "load_catalog", lambda: load_catalog(templates))
    result = cli("update", project)
    assert result.code == 0, result
    assert "# newer" in (project / "metrics.py").read_text()
    script = (project / "train.py").read_text()
    assert "# shuffle again" in script and "print('mine')" in script


def test_newlines_of_windows_are_no_edit(cli: Cli, project: Path) -> None:
    twin = shutil.copytree(project, project.with_name("twin"))
    for path in filter(Path.is_file, project.rglob("*")):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    files = len(read_pristine(project).files)
    assert f"untouched: {files} of {files}" in cli("status", project).out
    assert cli("diff", project).out == ""
    assert cli("update", project).out.startswith("Nothing to do")
    assert cli("add", "ema", project).code == cli("add", "ema", twin).code == 0
    after = read_files(project)
    assert b"\r\n" in after["train.py"]
    plain = {name: text.replace(b"\r\n", b"\n") for name, text in after.items()}
    assert {**plain, UNDO: b""} == {**read_files(twin), UNDO: b""}
    config = project / "config.py"
    config.write_bytes(config.read_bytes().replace(b"epochs: int = 20", b"epochs: int = 50"))
    edits = re.findall("(?m)^[-+]  .*", cli("diff", project).out)
    assert [row[:21] for row in edits] == ["-    epochs: int = 20", "+    epochs: int = 50"]


def test_what_changes_in_a_section_that_went_to_another_page_is_told(
    cli: Cli, project: Path
) -> None:
    readme, page = project / "README.md", project / "docs/runs.md"
    start, title, section = readme.read_text().partition("## Output")
    section, end, rest = section.partition("\n## ")
    write_files(project, {"README.md": f"{start}## {rest}", "docs/runs.md": f"{title}{section}"})
    kept = page.read_text()
    result = cli("update", project, "--set", "features.metrics_file.enabled=false")
    (told,) = re.findall(r"docs/runs.md: this was in README.md.*:\n  (.*)", result.out)
    assert result.code == 0 and told.startswith("- `metrics.jsonl`: ") and told in kept
    assert page.read_text() == kept and end and "metrics.jsonl" not in readme.read_text()
    result = cli("add", "profiler", project)
    assert "README.md: left out, because" in result.out and "\n  - `profile_*`: " in result.out


def test_a_module_that_became_a_package_is_found(cli: Cli, project: Path) -> None:
    (project / "data").mkdir()
    (project / "data/__init__.py").touch()
    (project / "data.py").rename(project / "data/loader.py")
    names = ["train.py", *(f"tests/test_{n}.py" for n in ("evaluation", "features", "resume"))]
    for name in names:
        path = project / name
        path.write_text(path.read_text().replace("from data import", "from data.loader import"))
    given = ("--set", "features.augmentation=true", "--set", "features.ema=true")
    assert cli("update", project, *given).code == 0
    assert "class Augmented" in (project / "data/loader.py").read_text()
    for name in names:
        found = re.findall(r"^from data\b\S* import", (project / name).read_text(), re.MULTILINE)
        assert found == ["from data.loader import"]


def test_a_dry_run_shows_what_the_update_does(cli: Cli, project: Path, tmp_path: Path) -> None:
    edit(project / "train.py", STEP, f"{STEP}            print('mine')\n")
    before = read_files(project)
    shown = cli("update", project, "--dry-run", "--set", "features.ema=true")
    assert shown.code == 0
    assert cli("diff", project, "--incoming", "--set", "features.ema=true").out == shown.out
    assert read_files(project) == before
    patched = tmp_path / "patched"
    shutil.copytree(project, patched)
    subprocess.run(["git", "apply", "-"], cwd=patched, input=shown.out.encode(), check=True)
    assert cli("update", project, "--set", "features.ema=true").code == 0
    after = read_files(project)
    assert after != before
    for name, text in read_files(patched).items():
        if not name.startswith(".scaffold"):
            assert text == after[name], name


@pytest.fixture
def conflict(cli: Cli, project: Path) -> Path:
    """A project with a conflict in it."""
    edit(project / "config.py", "epochs: int = 20", "epochs: int = 50")
    result = cli("update", project, "--epochs", "10", "--seed", "4")
    assert result.code == 1
    return project


def test_a_conflict_shows_all_three(cli: Cli, conflict: Path) -> None:
    text = (conflict / "config.py").read_text()
    three = r"<{7} yours\n(.*)\n\|{7} previously generated\n(.*)\n={7}\n(.*)\n>{7} (.*)\n"
    found = re.search(three, text)
    assert found
    values = [re.search(r"epochs: \S+ = (\d+)", found[number]) for number in (1, 2, 3)]
    assert [value and value[1] for value in values] == ["50", "20", "10"]
    assert found[4] == "training.epochs = 10"  # and not the seed, which changed too
    assert "seed: int = 4" in text
    line = text[: found.start()].count("\n") + 1
    status = json.loads(cli("status", conflict, "--json").out)
    label = "training.epochs = 10"
    assert status["conflicts"] == [{"path": "config.py", "line": line, "label": label}]


@pytest.fixture
def notebook(cli: Cli, tmp_path: Path) -> Path:
    """The notebook of a project, as Jupyter saves it after a run, with a cell of its owner."""
    assert cli("new", tmp_path / "net", "--yes", "--launcher", "notebook").code == 0
    path = tmp_path / "net" / "train.ipynb"
    book = json.loads(path.read_text())
    output = {"name": "stdout", "output_type": "stream", "text": ["naïve\n"]}
    for number, cell in enumerate(book["cells"]):
        if cell["cell_type"] == "code":
            cell |= {"execution_count": number, "outputs": [output]}
    place = [cell["id"] for cell in book["cells"]].index("train") + 1
    own = {"id": "mine", "source": ["print(1)"], "outputs": [], "execution_count": None}
    book["cells"].insert(place, {**book["cells"][1], **own})
    save(path, book)
    return path


def save(path: Path, book: object) -> None:
    path.write_text(json.dumps(book, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


PROCESSES = ("--distributed-type", "MULTI_CPU", "--num-processes", "2")


def test_a_notebook_is_merged_cell_by_cell(cli: Cli, notebook: Path) -> None:
    before = notebook.read_text()
    assert cli("update", notebook.parent, *PROCESSES).code == 0
    assert before.count("num_processes=1)") == 2, "in one cell that trains, and one that resumes"
    assert notebook.read_text() == before.replace("num_processes=1)", "num_processes=2)")


def test_a_conflict_in_a_notebook_is_in_the_source_of_its_cell(cli: Cli, notebook: Path) -> None:
    book = json.loads(notebook.read_text())
    train = next(cell for cell in book["cells"] if cell["id"] == "train")
    train["source"][-1] = train["source"][-1].replace("num_processes=1", "num_processes=4")
    save(notebook, book)
    ours = notebook.read_text()
    assert cli("update", notebook.parent, *PROCESSES).code == 1
    rows = notebook.read_text().split("\n")
    assert json.loads("\n".join(rows))["cells"].index({**train, "source": mock.ANY}) == 2
    [found] = json.loads(cli("status", notebook.parent, "--json").out)["conflicts"]
    assert found["path"] == "train.ipynb" and "<<<<<<< yours" in rows[found["line"] - 1]
    assert "num_processes=4" in rows[found["line"]]
    assert cli("add", "ema", notebook.parent).code == 1, "the conflict is open"
    for side, number in (("--ours", 4), ("--theirs", 2)):
        assert cli("resolve", notebook.parent, side).code == 0
        new = ours.replace("num_processes=1)", "num_processes=2)")
        assert notebook.read_text() == new.replace("num_processes=4)", f"num_processes={number})")
        assert cli("undo", notebook.parent).code == 0


def test_an_open_conflict_stops_the_next_update(cli: Cli, conflict: Path) -> None:
    before = read_files(conflict)
    result = cli("add", "ema", conflict)
    assert result.code == 1
    assert "config.py:" in result.err and "training.epochs = 10" in result.err
    assert read_files(conflict) == before
    script, marked = conflict / "config.py", r"<{7}.*\n(.*\n)(?:.*\n){4}>{7}.*\n"
    script.write_text(re.sub(marked, r"\1", script.read_text(), count=1))
    assert cli("add", "ema", conflict).code == 0
    assert "epochs: int = 50" in script.read_text()


@pytest.mark.every_run
def test_undo_refuses_to_lose_an_edit(cli: Cli, conflict: Path) -> None:
    script = conflict / "config.py"
    script.write_text(script.read_text() + "# later\n")
    before = read_files(conflict)
    result = cli("undo", conflict)
    assert result.code == 2
    assert "config.py" in result.err and "--keep-copy" in result.err
    assert read_files(conflict) == before
    assert cli("undo", conflict, "--keep-copy").code == 0
    assert (conflict / "config.py.kept").read_bytes() == before["config.py"]
    assert "epochs: int = 50" in script.read_text()
    assert cli("undo", conflict).code == 2  # there is nothing more


def test_undo_says_what_it_undid_and_how_far_it_reaches(cli: Cli, project: Path) -> None:
    assert cli("add", "tracker", project, "--set", "features.tracker.kind=wandb").code == 0
    assert cli("update", project, "--epochs", "9", "--set", "features.ema=true").code == 0
    out = cli("undo", project).out
    command = "scaffold update --set training.epochs=9 --set features.ema.enabled=true"
    assert f"Undid `{command}`:" in out
    restored = out.partition("\nrestored ")[2].partition("\n")[0].split(", ")
    assert {"train.py", "scaffold.toml"} <= set(restored)
    assert "The next `scaffold undo` reverts `scaffold add tracker --set" in out
    assert "That was the last step" in cli("undo", project).out
    assert cli("undo", project).code == 2
    assert cli("add", "tracker", project).code == 0
    assert cli("remove", "tracker", project).code == 0
    assert "Undid `scaffold remove tracker`:" in cli("undo", project).out
    assert cli("add", "preemption", project).code == 0
    assert "deleted preemption.py, signals.py\n" in cli("undo", project).out


def test_several_steps_are_undone_at_once_until_an_edit_would_be_lost(
    cli: Cli, project: Path
) -> None:
    start = read_files(project)
    for feature in ("tracker", "ema", "preemption"):
        assert cli("add", feature, project).code == 0
    refused = cli("undo", project, "--steps", "4")
    assert refused.code == 2 and "3 can be undone" in refused.err
    out = cli("undo", project, "--steps", "2").out
    assert "Undid `scaffold add preemption`" in out and "Undid `scaffold add ema`" in out
    assert "reverts `scaffold add tracker`." in out
    assert cli("add", "ema", project).code == 0
    script = project / "train.py"
    script.write_text(script.read_text() + "# mine\n")
    assert cli("add", "preemption", project).code == 0
    partly = cli("undo", project, "--steps", "3")
    assert partly.code == 2 and "Undid `scaffold add preemption`" in partly.out
    assert "edited since the last update: train.py" in partly.err
    assert script.read_text().endswith("# mine\n")
    assert cli("undo", project, "--steps", "2", "--keep-copy").code == 0
    assert start.items() <= read_files(project).items()


@pytest.fixture
def conflicts(cli: Cli, project: Path) -> Path:
    """A project with conflicts in two files, one of which is no longer generated."""
    assert cli("add", "best_model", project).code == 0
    edit(project / "config.py", "epochs: int = 20", "epochs: int = 50")
    edit(project / "config.py", "batch_size: int = 32", "batch_size: int = 48")
    edit(project / "callbacks.py", '"""Objects that the loop', '"""Our objects that the loop')
    edit(project / "callbacks.py", "score > self.score", "score >= self.score")
    given = ["--epochs=10", "--batch-size=64", "--set=features.best_model=false"]
    assert cli("update", project, *given).code == 1
    return project


@pytest.mark.parametrize("side", ["--ours", "--theirs"])
def test_resolve_takes_a_side_and_can_be_undone(cli: Cli, conflicts: Path, side: str) -> None:
    before = read_files(conflicts)
    result = cli("resolve", conflicts, side)
    ours = side == "--ours"
    assert (result.code, result.err) == (int(ours), "")
    assert "config.py: 2 conflict(s) resolved" in result.out
    assert ("from weights, which does not define it" in result.out) == ours
    script = (conflicts / "config.py").read_text()
    assert ("epochs: int = 50" in script and "batch_size: int = 48" in script) == ours
    assert ("epochs: int = 10" in script and "batch_size: int = 64" in script) == (not ours)
    for marker in ("<<<<<<<", "|||||||", "=======", ">>>>>>>", "epochs: int = 20"):
        assert marker not in script
    assert (conflicts / "callbacks.py").exists() == ours
    assert json.loads(cli("status", conflicts, "--json").out)["conflicts"] == []
    assert cli("resolve", conflicts, side).out == "There are no open conflicts.\n"

    result = cli("undo", conflicts)
    assert f"Undid `scaffold resolve {side} config.py callbacks.py`" in result.out
    assert "The next `scaffold undo` reverts `scaffold update " in result.out
    assert before.items() <= read_files(conflicts).items()
    assert cli("undo", conflicts).code == 0
    assert "epochs: int = 50" in (conflicts / "config.py").read_text()
    assert "Our objects" in (conflicts / "callbacks.py").read_text()


def test_resolve_of_some_files(cli: Cli, conflicts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    callbacks = (conflicts / "callbacks.py").read_bytes()
    result = cli("resolve", conflicts, "config.py", "--theirs")
    assert result.code == 1 and "callbacks.py:1" in result.out
    assert "<<<<<<<" not in (conflicts / "config.py").read_text()
    assert (conflicts / "callbacks.py").read_bytes() == callbacks
    monkeypatch.chdir(conflicts.parent)
    result = cli("resolve", conflicts, f"{conflicts.name}/callbacks.py", "--ours")
    assert result.code == 1 and "from weights, which does not define it" in result.out
    text = (conflicts / "callbacks.py").read_text()
    assert text.startswith('"""Our objects that the loop') and "class BestModel" in text
    for undone in ("resolve --ours callbacks.py", "resolve --theirs config.py", "update --set"):
        assert f"Undid `scaffold {undone}" in cli("undo", conflicts).out


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ([], ["--ours", "--theirs", "`<<<<<<< yours`"]),
        (["--ours", "--theirs"], ["choose one side"]),
        (["model.py", "--ours"], ["model.py: has no open conflict", "config.py, callbacks.py"]),
        (["/etc/passwd", "--ours"], ["/etc/passwd: has no open conflict"]),
        (["../config.py", "--ours"], ["../config.py: has no open conflict"]),
    ],
)
def test_resolve_refuses(cli: Cli, conflicts: Path, options: list[str], parts: list[str]) -> None:
    before = read_files(conflicts)
    result = cli("resolve", conflicts, *options)
    assert result.code == 2 and len(result.err.splitlines()) == 1
    for part in parts:
        assert part in result.err
    assert read_files(conflicts) == before


def test_resolve_does_not_take_a_part_of_new_code(cli: Cli, conflicts: Path) -> None:
    script = conflicts / "config.py"
    label = re.findall(r"(?m)^>>>>>>> .*", script.read_text())[1]
    edit(script, label, f"{label}{SHORTENED}")
    result = cli("resolve", conflicts, "--theirs")
    assert result.code == 2 and "write these changes where it is now" in result.err
    assert label in script.read_text()
    assert cli("resolve", conflicts, "--ours").code == 1 and label not in script.read_text()


def test_adopt_rebuilds_a_lost_folder(cli: Cli, project: Path) -> None:
    assert cli("add", "ema", project).code == 0
    edit(project / "config.py", "epochs: int = 20", "epochs: int = 50")
    (project / "net").mkdir()
    (project / "model.py").rename(project / "net/model.py")
    (project / "metrics.py").unlink()
    pristine = json.loads((project / PRISTINE).read_text())
    shutil.rmtree(project / ".scaffold")
    before = read_files(project)
    result = cli("status", project)
    assert result.code == 2 and "`scaffold adopt` rebuilds it" in result.err

    patch = cli("adopt", project, "--dry-run").out
    assert "-    epochs: int = 20" in patch and "+    epochs: int = 50" in patch
    assert "rename to net/model.py" in patch and "+++ /dev/null" in patch
    assert read_files(project) == before
    result = cli("adopt", project)
    assert result.code == 0
    for row in ("edited: config.py", "moved: model.py -> net/model.py", "deleted: metrics.py"):
        assert f"  {row}\n" in result.out
    rebuilt = json.loads((project / PRISTINE).read_text())
    assert rebuilt.pop("moved") == {"model.py": "net/model.py"}
    for name in ("version", "answers", "files"):
        assert rebuilt[name] == pristine[name]
    after = read_files(project)
    assert {name: after[name] for name in before} == before
    assert after.keys() - before.keys() == {PRISTINE}
    assert cli("remove", "ema", project).code == 0
    assert "epochs: int = 50" in (project / "config.py").read_text()
    assert "Ema(" not in (project / "train.py").read_text()


def test_adopt_keeps_a_damaged_copy(cli: Cli, project: Path) -> None:
    (project / PRISTINE).write_text("{}")
    assert "`scaffold adopt`" in cli("update", project).err
    result = cli("adopt", project)
    assert result.code == 0 and "pristine.json.damaged" in result.err
    assert (project / f"{PRISTINE}.damaged").read_text() == "{}"
    assert cli("update", project).out.startswith("Nothing to do")


def test_conflicts_of_git_are_named(cli: Cli, project: Path) -> None:
    """Two branches have another feature each. Their code may merge; pristine.json never does."""
    for path, place in ((PRISTINE, ' "version"'), ("scaffold.toml", "[features.")):
        text = (project / path).read_text()
        mixed = f"\n<<<<<<< HEAD\n{place}\n=======\n>>>>>>> other\n{place}"
        (project / path).write_text(text.replace(f"\n{place}", mixed, 1))
    result = cli("update", project)
    assert result.code == 2 and "pristine.json: has conflicts of git" in result.err
    assert "`scaffold adopt`" in result.err
    result = cli("adopt", project)
    assert result.code == 2 and "scaffold.toml: has conflicts of git: resolve" in result.err
    (project / "scaffold.toml").write_text(text)
    assert cli("adopt", project).code == 0
    assert "22 of 22" in cli("status", project).out


def test_adopt_reads_the_names_of_an_earlier_version(cli: Cli, project: Path) -> None:
    """The next update translates them."""
    every = "--set=features.evaluation_by_steps.every=50"
    assert cli("update", project, every, "--set=training.checkpoint_unit=steps").code == 0
    shutil.rmtree(project / ".scaffold")
    settings = project / "scaffold.toml"
    edit(settings, "features.evaluation_by_steps", "features.evaluation_by_updates")
    edit(settings, 'checkpoint_unit = "steps"', 'checkpoint_unit = "updates"')
    assert cli("adopt", project).code == 0
    assert answer(project, "features.evaluation_by_steps.every") == 50
    assert answer(project, "training.checkpoint_unit") == "steps"
    assert cli("update", project, "--epochs", "9").code == 0
    text = settings.read_text()
    assert "[features.evaluation_by_steps]" in text and 'checkpoint_unit = "steps"' in text
    assert "epochs: int = 9" in (project / "config.py").read_text()


REFUSED = {
    "intact": (lambda folder: None, ["intact", "`scaffold diff`"]),
    "no answers": (lambda folder: (folder / "scaffold.toml").unlink(), ["toml", "no such"]),
    "a link": (
        lambda folder: (folder / ".scaffold").symlink_to(folder.parent, target_is_directory=True),
        [".scaffold", "is not a folder of the project itself"],
    ),
    "no files": (
        lambda folder: [path.unlink() for path in folder.rglob("*") if path.is_file()]
        and (folder / "scaffold.toml").write_text("[training]\nepochs = 3\n"),
        ["none of the project's files", "--answers"],
    ),
    "unfinished": (
        lambda folder: write_files(folder, {".scaffold/journal.json": "{}"}),
        ["an update is unfinished"],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_adopt_refuses(cli: Cli, project: Path, case: str) -> None:
    act, parts = REFUSED[case]
    if case != "intact":
        shutil.rmtree(project / ".scaffold")
    act(project)
    before = read_files(project)
    result = cli("adopt", project)
    assert result.code == 2 and len(result.err.splitlines()) == 1
    for part in parts:
        assert part in result.err
    assert read_files(project) == before


@pytest.mark.every_run
def test_paths_of_a_foreign_copy_are_checked(cli: Cli, project: Path) -> None:
    pristine = read_pristine(project)
    for name in ("../outside.py", "/tmp/outside.py", ".git/hooks/x", "a/../b", "."):
        files = {**pristine.files, name: "print('pwned')\n"}
        (project / PRISTINE).write_text(write_pristine(replace(pristine, files=files)))
        before = read_files(project.parent)
        for command in (["update", "--seed", "3"], ["status"], ["diff"]):
            result = cli(command[0], project, *command[1:])
            assert result.code == 2
            assert "not the path of a file in the project" in result.err
        assert read_files(project.parent) == before


@pytest.mark.every_run
def test_a_damaged_copy_is_named(cli: Cli, project: Path) -> None:
    path = project / PRISTINE
    text = path.read_text()
    pairs = (("import torch", "import os"), ('"files": {', '"files": ['))
    for damaged in (text[:9999], "[]", "{}", *(text.replace(*pair, 1) for pair in pairs)):
        path.write_text(damaged)
        before = read_files(project)
        result = cli("update", project, "--seed", "3")
        assert result.code == 2 and len(result.err.splitlines()) == 1
        assert "pristine.json" in result.err and "version control" in result.err
        assert read_files(project) == before


def test_a_folder_that_is_no_project(cli: Cli, tmp_path: Path) -> None:
    for command in ("update", "status", "diff", "undo"):
        result = cli(command, tmp_path)
        assert result.code == 2 and "not a scaffold project" in result.err


def test_a_link_out_of_the_project_is_not_followed(cli: Cli, project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    shutil.move(project / "train.py", outside)
    (project / "train.py").symlink_to(outside)
    before = outside.read_text()
    for command in (["update", "--seed", "3"], ["diff"]):
        result = cli(command[0], project, *command[1:])
        assert result.code == 2 and "leads out of the project" in result.err
    assert outside.read_text() == before


@pytest.mark.every_run
def test_an_update_is_fast(tmp_path: Path) -> None:
    """Half a second to one of processor time on an idle machine: a tripwire, not a benchmark."""
    assert run_cli("new", "digits", "--yes", cwd=tmp_path).returncode == 0
    edit(tmp_path / "digits/train.py", STEP, f"{STEP}            print('mine')\n")
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = run_cli("update", "digits", "--mixed-precision", "bf16", cwd=tmp_path)
        assert result.returncode == 0, result.stderr
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if times[-1] < 3.0:
            break
        assert run_cli("undo", "digits", cwd=tmp_path).returncode == 0
    assert min(times) < 3.0


@pytest.fixture
def minimal(cli: Cli, tmp_path: Path) -> Path:
    folder = tmp_path / "minimal"
    assert cli("new", folder, "--yes", "--set", "project.loop=minimal").code == 0
    return folder


COMPLETE = ("--set", "project.loop=complete")


@pytest.mark.parametrize("module", ["settings", "config"])
def test_settings_that_their_owner_moved_are_those_of_the_complete_loop(
    module: str, cli: Cli, minimal: Path
) -> None:
    text = (minimal / "train.py").read_text()
    start, end = text.index("@dataclass"), text.index("def build_optimizer")
    heads = "".join(row for row in re.findall(r"from (?:dataclasses|datetime|pathlib).*\n", text))
    own = f'"""Mine."""\n\n{heads}\n\n{text[start:end]}'.rstrip() + "\n"
    (minimal / f"{module}.py").write_text(own)
    rest = text[:start] + text[end:]
    for row in heads.splitlines(keepends=True):
        rest = rest.replace(row, "")
    rest = rest.replace("from model import", f"from {module} import Config\nfrom model import")
    (minimal / "train.py").write_text(rest)
    result = cli("update", minimal, *COMPLETE)
    assert result.code == 0, result.out
    settings = (minimal / f"{module}.py").read_text()
    assert "def parse_config(" in settings and "max_steps: int" in settings
    assert "LIMITS = {" in settings, "which the class reads"
    assert settings.startswith('"""Mine."""')
    assert (minimal / "config.py").exists() == (module == "config")


def test_parts_of_the_settings_go_with_them(cli: Cli, minimal: Path) -> None:
    part = "@dataclass(frozen=True)\nclass Data:\n    workers: int = 0\n\n\n"
    script, head = minimal / "train.py", "@dataclass(frozen=True)\nclass Config:\n"
    edit(script, head, f"{part}{head}    data: Data = Data()\n")
    read = "def read(data: Data) -> int:\n    return data.workers\n\n\n"
    edit(script, "def main(", f"{read}def main(")
    assert cli("update", minimal, *COMPLETE).code == 0
    settings = (minimal / "config.py").read_text()
    assert settings.index("class Data:") < settings.index("    data: Data = Data()")
    text = (minimal / "train.py").read_text()
    assert "class Data" not in text and re.search("from config import .*Data", text)


def test_a_setting_with_the_name_of_an_import_does_not_take_it_along(
    cli: Cli, minimal: Path
) -> None:
    script, seed = minimal / "train.py", "    seed: int = 0"
    edit(script, seed, f"    sleep: bool = False\n{seed}")
    edit(script, "from pathlib", "from time import sleep\nfrom pathlib")
    edit(script, "def main(", "def wait() -> None:\n    sleep(1)\n\n\ndef main(")
    assert cli("update", minimal, *COMPLETE).code == 0
    settings = (minimal / "config.py").read_text()
    assert "    sleep: bool = False\n" in settings and "import sleep" not in settings
    assert "from time import sleep\n" in script.read_text()


def test_the_docstring_of_a_script_does_not_go_with_its_settings(cli: Cli, minimal: Path) -> None:
    edit(minimal / "train.py", "The weights are saved", "The best weights are saved")
    cli("update", minimal, *COMPLETE)
    assert (minimal / "config.py").read_text().startswith('"""The settings of a run')


def test_own_settings_go_back_into_the_minimal_script(cli: Cli, project: Path) -> None:
    seed = "    seed: int = 0"
    edit(project / "config.py", seed, f"    smoothing: float = 0.1  # ours\n{seed}")
    edit(project / "train.py", 'reduction="none")', 'reduction="none", label_smoothing=0.1)')
    off = ("checkpoints", "clipping", "metrics_file", "predict", "schedule")
    result = cli("remove", *off, "--set", "project.loop=minimal", "--project", project)
    assert result.code == 0, result.out
    text = (project / "train.py").read_text()
    assert "    smoothing: float = 0.1  # ours\n" in text and "label_smoothing=0.1" in text
    assert not (project / "config.py").exists() and "from config import" not in text
    rows = ("from dataclasses", "from pathlib", "import torch", "import tyro", "from accelerate")
    places = [text.index(f"\n{row}") for row in rows]
    assert places == sorted(places)
