"""What `scaffold status` says about a project."""

import json
import os
import time
from pathlib import Path

import pytest

from scaffold import __version__
from scaffold.answers.catalog import Catalog
from scaffold.answers.resolve import Answers, resolve
from scaffold.commands.status import show_status
from scaffold.errors import ScaffoldError
from scaffold.merge.conflicts import Conflict, find_conflicts
from scaffold.project.answers import complete, effective_answers
from scaffold.project.moves import find_moved, follow_moves
from scaffold.project.pristine import PRISTINE, Pristine, write_pristine
from scaffold.project.read import read_text, read_texts
from scaffold.project.state import file_states, unapplied_answers
from support.files import add_answers, write_files
from support.rendering import render

CONFLICT = "<<<<<<< mine\na\n||||||| before\nb\n=======\nc\n>>>>>>> training.epochs=7\n"


@pytest.fixture
def pristine(catalog: Catalog) -> Pristine:
    return Pristine("0.0.9", resolve(catalog, {"project.name": "example"}), dict(render({})))


@pytest.fixture
def project(tmp_path: Path, pristine: Pristine) -> Path:
    return write_files(tmp_path / "p", {**pristine.files, PRISTINE: write_pristine(pristine)})


def move(project: Path, name: str, place: str, edit: str = "") -> None:
    target = project / place
    target.parent.mkdir(parents=True, exist_ok=True)
    (project / name).rename(target)
    target.write_text(target.read_text() + edit)


def replace(project: Path, name: str, before: str, after: str) -> None:
    path = project / name
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def test_moves_that_are_known_are_followed_and_forgotten(project: Path, pristine: Pristine) -> None:
    known = Pristine("", {}, pristine.files, {"data.py": "one.py", "model.py": ".hidden/m.py"})
    move(project, "data.py", "one.py", "x = 1\n" * 999)
    move(project, "model.py", ".hidden/m.py")
    assert follow_moves(project, known) == known, "however they look"
    assert file_states(project, known)["data.py"] == "moved, edited"
    move(project, "one.py", "data.py")
    move(project, ".hidden/m.py", "m2.py")
    assert follow_moves(project, known).moved == {"model.py": "m2.py"}
    assert file_states(project, known)["data.py"] == "edited"


def lines(start: int, stop: int) -> str:
    return "".join(f"line {number}\n" for number in range(start, stop))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"b.py": lines(0, 10)}, {"a.py": "b.py"}),
        ({"b.txt": lines(0, 10)}, {}),
        ({"b.py": lines(4, 14)}, {"a.py": "b.py"}),  # 0.6 of the lines
        ({"b.py": lines(6, 16)}, {}),
        ({"a.py": lines(50, 60), "b.py": lines(0, 10)}, {}),
        ({"b.py": lines(1, 10), "c.py": lines(0, 10)}, {"a.py": "c.py"}),
        ({"b.py": lines(0, 10), "x/a.py": lines(0, 10)}, {"a.py": "x/a.py"}),
        ({"x/b.py": lines(0, 10), "b.py": lines(0, 10)}, {"a.py": "b.py"}),
        ({"b.py": lines(0, 10).replace("\n", "\r\n")}, {"a.py": "b.py"}),
        ({"b.py": ""}, {}),
        ({}, {}),
    ],
)
def test_the_most_similar_file_is_the_moved_one(
    texts: dict[str, str], expected: dict[str, str]
) -> None:
    pristine = Pristine("", {}, {"a.py": lines(0, 10), "empty.py": "", "empty2.py": "\n"})
    assert find_moved(pristine, texts) == expected


def test_each_file_is_the_place_of_one() -> None:
    pristine = Pristine("", {}, {"a.py": lines(0, 10), "b.py": lines(1, 11), "c.py": lines(0, 10)})
    texts = {"x.py": lines(1, 11), "c.py": lines(0, 10), "y.py": lines(0, 9)}
    assert find_moved(pristine, texts) == {"a.py": "y.py", "b.py": "x.py"}
    assert find_moved(pristine, {"x.py": lines(1, 11)}) == {"b.py": "x.py"}
    assert find_moved(pristine, {"b.py": lines(0, 10), "c.py": ""}) == {}, "is b.py itself"


def test_only_text_of_the_project_is_read(tmp_path: Path) -> None:
    wanted = {"a.py": "a", "s/b.py": "b", "s/t/c.txt": "c", ".env": "d", "s/e": "e\r\n"}
    folders = ".git .venv venv node_modules runs .hidden s/__pycache__ s/runs/1 environment other"
    others = {f"{folder}/x.py": "x" for folder in (*folders.split(), ".scaffold", "build/lib")}
    project = write_files(tmp_path / "p", {**wanted, **others, ".github/ci.yml": "ci"})
    write_files(project, {"environment/pyvenv.cfg": "", "other/.scaffold/pristine.json": "{}"})
    (project / "large.py").write_text("#" * 1_000_001)
    (project / "zero.py").write_bytes(b"a\0b")
    write_files(tmp_path, {"outside/secret.py": "secret"})
    (project / "link.py").symlink_to(tmp_path / "outside" / "secret.py")
    (project / "folder").symlink_to(tmp_path / "outside")
    (project / "circle").symlink_to(project)
    os.mkfifo(project / "pipe.py")
    assert read_texts(project) == wanted
    assert list(read_texts(project))[:2] == [".env", "a.py"], "those near the root are first"
    assert read_texts(project, suffixes={".txt"}) == {"s/t/c.txt": "c"}
    always = [".github/ci.yml", "zero.py", "large.py", "link.py", "folder/secret.py", "pipe.py"]
    always += ["missing.py", "a.py", "a.py/b.py", "circle/a.py", "s"]
    found = read_texts(project, always)
    found.pop("circle/a.py")  # is in the project
    assert found.keys() - wanted.keys() == {".github/ci.yml", "zero.py", "large.py"}
    assert found[".github/ci.yml"] == "ci"


def test_a_link_is_not_followed_out_of_the_project(tmp_path: Path) -> None:
    project = write_files(tmp_path / "p", {"a.py": "a"})
    (tmp_path / "secret").write_text("secret")
    (project / "in").symlink_to("a.py")
    (project / "out").symlink_to("../secret")
    (project / "up").symlink_to("..")
    (project / "nowhere").symlink_to("nothing")
    (project / "loop").symlink_to("loop")
    assert read_text(project, "in") == "a"
    assert read_text(project, "nowhere") is None
    for name in ("out", "up/secret", "loop", "up"):
        with pytest.raises(ScaffoldError, match="link"):
            read_text(project, name)


def test_many_files_are_looked_through_quickly(project: Path, pristine: Pristine) -> None:
    (project / "images").mkdir()
    for number in range(3000):
        (project / "images" / f"{number}.png").touch()
    for number in range(300):
        (project / "images" / f"{number}.py").write_text(lines(number, number + 200))
    move(project, "train.py", "src/train.py", "# mine\n")
    move(project, "data.py", "src/data.py", "# mine\n")
    begin = time.process_time()
    moved = follow_moves(project, pristine).moved
    assert time.process_time() - begin < 2
    assert moved == {"train.py": "src/train.py", "data.py": "src/data.py"}


def test_regions_between_markers_are_conflicts() -> None:
    text = f"# A\n{CONFLICT}between\n<<<<<<< mine\n=======\n>>>>>>> features.ema.enabled=true\n"
    assert find_conflicts("a.py", text) == [
        Conflict("a.py", 2, "training.epochs=7"),
        Conflict("a.py", 10, "features.ema.enabled=true"),
    ]
    crlf = text.replace("\n", "\r\n")
    assert find_conflicts("a.py", crlf) == find_conflicts("a.py", text)
    second = [Conflict("a", 2, "training.epochs=7")]
    assert find_conflicts("a", f"<<<<<<< lost\n{CONFLICT}") == second


@pytest.mark.parametrize(
    "text",
    [
        "Title\n=======\n\ntext\n",
        "<<<<<<< mine\nTitle\n=======\n",
        "=======\n>>>>>>> a\n",
        ">>>>>>> a\n=======\n<<<<<<< b\n",
        "<<<<<<< a\n>>>>>>> b\n",
        "<<<<<<<< a\n=======\n>>>>>>>> b\n",
        " <<<<<<< a\n =======\n >>>>>>> b\n",
        "<<<<<<< a\n=======x\n>>>>>>> b\n",
    ],
)
def test_less_than_a_region_is_none(text: str) -> None:
    assert find_conflicts("README.md", text) == []


def test_previous_answers_complete_given_ones(catalog: Catalog) -> None:
    def complete_all(given: Answers, **previous: object) -> Answers:
        old = resolve(catalog, {k.replace("__", "."): v for k, v in previous.items()})
        return effective_answers(catalog, resolve(catalog, complete(catalog, given, old)))

    found = complete_all({}, training__epochs=7, features__schedule__kind="wsd", project__name="a")
    assert found["training.epochs"] == 7 and found["features.schedule.decay"] == 0.2
    found = complete_all({"features.schedule.kind": "cosine"}, features__schedule__kind="wsd")
    assert "features.schedule.decay" not in found
    found = complete_all({"features.tracker.enabled": True, "project.name": "b"}, project__name="a")
    assert found["features.tracker.project"] == "b", "the old one had no effect"
    assert complete_all({"features.ema.decay": 0.5})["features.ema.enabled"] is True
    other = {"training.warp": 9, "training.epochs": "many", "training.seed": 3}
    assert complete(catalog, {}, other)["training.seed"] == 3, "those of another version"


def show(project: Path, capsys: pytest.CaptureFixture[str], as_json: bool = False) -> str:
    show_status(project, as_json)
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_a_fresh_project_has_little_to_tell(
    project: Path, pristine: Pristine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show(project, capsys).splitlines() == [
        f"{project}: written by scaffold 0.0.9; this is scaffold {__version__}.",
        "",
        "All answers are defaults.",
        "",
        "Files:",
        f"  untouched: {len(pristine.files)} of {len(pristine.files)}",
    ]


def test_people_see_all_that_is_open(
    tmp_path: Path, catalog: Catalog, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"features.ema.enabled": True, "features.clipping.enabled": False}
    answers = resolve(catalog, {"project.name": "example", **given})
    files = dict(render(given))
    text = write_pristine(Pristine("0.0.9", answers, files))
    project = write_files(tmp_path / "p", {**files, PRISTINE: text, ".scaffold/undo.json": ""})
    add_answers(project / "scaffold.toml", "[training]\nepochs = 7\n")
    replace(project, "scaffold.toml", "ema]\nenabled = true", "ema]\nenabled = false")
    replace(project, "scaffold.toml", ".schedule]\n", '.schedule]\nkind = "wsd"\n')
    escaped = CONFLICT.replace("training", "\x1btraining")
    replace(project, "train.py", '"""', f'"""\n{escaped}')
    move(project, "data.py", "src/data.py")
    (project / "metrics.py").unlink()
    (project / "README.md").write_text("")
    (project / "config.py").unlink()
    (project / "config.py").mkdir()
    assert show(project, capsys).splitlines()[2:] == [
        "Answers that differ from the defaults:",
        "  features.clipping.enabled = false",
        "  features.ema.enabled = true",
        "",
        "Files:",
        "  edited: README.md",
        "  edited: scaffold.toml",
        "  edited: train.py",
        "  moved: data.py -> src/data.py",
        "  deleted: metrics.py",
        "  unreadable: config.py",
        f"  untouched: {len(files) - 6} of {len(files)}",
        "",
        "Open conflicts:",
        *(
            f"  {c.path}:{c.line}: ?training.epochs=7"
            for c in find_conflicts("train.py", (project / "train.py").read_text())
        ),
        "",
        "Answers in scaffold.toml that `scaffold update` would apply:",
        "  training.epochs: 20 -> 7",
        "  features.ema.enabled: true -> false",
        "  features.ema.decay: 0.99 -> no effect",
        '  features.schedule.kind: "cosine" -> "wsd"',
        "  features.schedule.decay: no effect -> 0.2",
        "",
        "`scaffold undo` reverts the last update.",
    ]


def test_json_is_one_stable_object(
    project: Path, pristine: Pristine, capsys: pytest.CaptureFixture[str]
) -> None:
    add_answers(project / "scaffold.toml", "[features.ema]\nenabled = true\n")
    move(project, "data.py", "src/data.py", CONFLICT)
    found = json.loads(show(project, capsys, as_json=True))
    files = found.pop("files")
    for name in ("README.md", "train.py", ".gitignore"):
        assert files[name] == {"state": "untouched", "path": name}
    assert files["data.py"] == {"state": "moved, edited", "path": "src/data.py"}
    assert list(files) == list(pristine.files)
    line = pristine.files["data.py"].count("\n") + 1
    assert found == {
        "version": "0.0.9",
        "tool_version": __version__,
        "answers": dict(pristine.answers),
        "conflicts": [{"path": "src/data.py", "line": line, "label": "training.epochs=7"}],
        "unapplied": {
            "features.ema.enabled": {"applied": False, "wanted": True},
            "features.ema.decay": {"applied": None, "wanted": 0.99},
        },
        "problem": None,
        "can_undo": False,
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[training\n", "scaffold.toml: is not valid TOML"),
        ("[training]\nepochs = 0\n", "scaffold.toml: training.epochs: 0 is not allowed"),
        ("[training]\nwarp = 9\n", "scaffold.toml: training.warp: there is no such setting"),
        ("[features]\nlearning_curves = true\n", "needs the feature metrics_file"),
        (CONFLICT, "scaffold.toml: is not valid TOML"),
    ],
)
def test_settings_that_are_wrong_are_a_message(
    text: str, message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "scaffold.toml").write_text(text)
    assert message in show(project, capsys).splitlines()[-1]
    found = json.loads(show(project, capsys, as_json=True))
    assert message in found["problem"] and found["unapplied"] is None


def test_settings_that_are_missing_or_moved_are_none(
    project: Path, pristine: Pristine, catalog: Catalog
) -> None:
    add_answers(project / "scaffold.toml", "[training]\nepochs = 7\n")
    move(project, "scaffold.toml", "conf/scaffold.toml")
    followed = follow_moves(project, pristine)
    assert unapplied_answers(catalog, project, followed) == {"training.epochs": (20, 7)}
    (project / "conf" / "scaffold.toml").unlink()
    assert unapplied_answers(catalog, project, followed) == {}
