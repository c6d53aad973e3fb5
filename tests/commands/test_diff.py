"""Patches that git and patch take."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest

from scaffold.project.changes import Change
from scaffold.project.patch import unified_diff
from scaffold.project.pristine import PRISTINE, Pristine, write_pristine
from support.files import read_files, write_files
from support.rendering import render

TOOLS = {
    "git": ["git", "apply", "--whitespace=nowarn", "-"],
    "patch": ["patch", "-p1", "--no-backup-if-mismatch"],
}


DIFF = [sys.executable, "-m", "scaffold", "diff"]
Apply = Callable[[Path, bytes], None]


def encode(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def patch_of(change: Change, was: str = "") -> bytes:
    moved = {change.path: was} if was else {}
    return b"".join(encode(line) + b"\n" for line in unified_diff([change], moved))


@pytest.fixture(params=TOOLS)
def apply(request: pytest.FixtureRequest) -> Apply:
    """Applies a patch to a folder, without a word from the tool."""
    if not shutil.which(request.param):
        pytest.skip(f"there is no {request.param}")

    def apply(folder: Path, patch: bytes) -> None:
        # the folder is no repository, nor in one
        env = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
        result = subprocess.run(
            TOOLS[request.param], cwd=folder, input=patch, env=env, capture_output=True
        )
        said = result.stderr + result.stdout
        assert result.returncode == 0, said.decode()
        assert all(line.startswith(b"patching file") for line in result.stdout.splitlines()), said
        assert result.stderr == b"", said

    return apply


LONG = "".join(f"line {number}\n" for number in range(300))

CASES: dict[str, tuple[str | None, str | None]] = {
    "edited": (LONG, LONG.replace("line 7\n", "seven\n").replace("line 200\n", "")),
    "new": (None, "a\nb\n"),
    "new and empty": (None, ""),
    "deleted": ("a\nb\n", None),
    "deleted and was empty": ("", None),
    "emptied": ("a\n", ""),
    "filled": ("", "a\n"),
    "no newline before": ("a\nb", "a\nb\n"),
    "no newline after": ("a\nb\n", "a\nb"),
    "no newline ever": ("a\nb", "a\nc"),
    "no newline in new": (None, "a"),
    "no newline in deleted": ("a", None),
    "crlf": ("a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n"),
    "to crlf": ("a\nb\n", "a\r\nb\r\n"),
    "one crlf": ("a\r\nb\n", "a\nb\r\n"),
    "carriage return": ("a\rb\nc\n", "a\rB\nc\n"),
    "other ends of lines": ("a\x0bb\u2028c\x0c\x85\nd\n", "a\x0bb\u2028c\x0c\x85\ne\n"),
    "not ascii": ("naïve 😀\nb\n", "naïve 😃\nb\n"),
    "not utf-8": ("a\udcff\nb\n", "a\udcfe\udc80\nb\n"),
    "like a patch": ("-- a\n++ b\n@@ -1 +1 @@\n", "-- b\n++ b\n\\ No newline at end of file\n"),
    "blank lines": ("\n\n\na\n\n", "\n\na\n\n\n"),
}
NAMES = ["x.py", "a b/c d.txt", "naïve/é.md", "é ö.md", 'quo"te.md', " x", "x ", "-", "#", "a/b/c"]


@pytest.mark.parametrize("case", CASES)
def test_any_text_comes_out_as_it_went_in(case: str, apply: Apply, tmp_path: Path) -> None:
    before, after = CASES[case]
    (tmp_path / "x").mkdir()
    path = tmp_path / "x" / "d.txt"
    if before is not None:
        path.write_bytes(encode(before))
    patch = patch_of(Change("x/d.txt", before, after))
    apply(tmp_path, patch)
    assert (path.read_bytes() if path.exists() else None) == (
        None if after is None else encode(after)
    )
    if "edited" in case:
        assert patch.count(b"\n") < 30


@pytest.mark.parametrize("name", NAMES)
def test_any_name_and_any_change_of_its_file(name: str, apply: Apply, tmp_path: Path) -> None:
    texts = ["a\nb\n", "a\nc\n", "", None]
    steps = [(one, two) for one in texts for two in texts if one != two]
    assert len(steps) == 12
    path = tmp_path / "w" / name
    path.parent.mkdir(parents=True)
    for before, after in steps:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if before is not None:
            path.write_text(before)
        apply(tmp_path / "w", patch_of(Change(name, before, after)))
        assert (path.read_text() if path.exists() else None) == after


@pytest.mark.parametrize("after", ["a\nb\nc\n", "a\nB\nc\n"], ids=["same", "edited"])
@pytest.mark.parametrize("place", ["s é/x y.py", "y.py"])
def test_a_file_that_was_moved(place: str, after: str, apply: Apply, tmp_path: Path) -> None:
    name = "x é y.py"
    (tmp_path / name).write_text("a\nb\nc\n")
    apply(tmp_path, patch_of(Change(place, "a\nb\nc\n", after), was=name))
    assert read_files(tmp_path) == {place: after.encode()}


def make_project(folder: Path) -> None:
    files = dict(render({}))
    pristine = Pristine("0.1.0", {"project.name": "example"}, files)
    write_files(folder, {**files, PRISTINE: write_pristine(pristine)})


def edit(folder: Path) -> None:
    """Everything that an owner may do to the files of a render."""
    script = folder / "train.py"
    script.write_bytes(script.read_bytes().replace(b"\n", b"\r\n") + b"# caf\xe9")
    (folder / "metrics.py").unlink()
    (folder / "a b").mkdir()
    (folder / "data.py").rename(folder / "a b" / "data.py")
    model = folder / "model.py"
    (folder / "a b" / "nét.py").write_text(model.read_text() + "\n# mine\n")
    model.unlink()
    (folder / "config.py").write_bytes(b"")
    (folder / "README.md").write_text("# Mine")
    (folder / "own.py").write_text("mine = 1\n")
    (folder / ".gitignore").write_text("*\n")


def test_own_changes_make_the_owners_files_of_a_fresh_render(apply: Apply, tmp_path: Path) -> None:
    make_project(tmp_path / "mine")
    edit(tmp_path / "mine")
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = subprocess.run([*DIFF, tmp_path / "mine"], env=env, capture_output=True)
    assert result.returncode == 0 and not result.stderr, result.stderr
    assert b'rename from data.py\nrename to "a b/data.py"\n' in result.stdout
    assert b"\x1b" not in result.stdout
    make_project(tmp_path / "fresh")
    apply(tmp_path / "fresh", result.stdout)
    mine = read_files(tmp_path / "mine")
    assert mine.pop("own.py") == b"mine = 1\n", "is none of the render"
    mine["train.py"] = mine["train.py"].replace(b"\r\n", b"\n")
    assert read_files(tmp_path / "fresh") == mine
    assert len(mine) >= 13


def test_colour_only_in_a_terminal(tmp_path: Path) -> None:
    make_project(tmp_path)
    (tmp_path / "data.py").write_text("mine\n")
    for no_colour, term in ("", "xterm"), ("1", "xterm"), ("", "dumb"):
        expected = (no_colour, term) == ("", "xterm")
        env = {**os.environ, "TERM": term, "NO_COLOR": no_colour}
        child = pexpect.spawn(DIFF[0], [*DIFF[1:], str(tmp_path)], env=env, timeout=30)
        said = child.read()
        child.close()
        assert child.exitstatus == 0
        assert b"+mine" in said
        assert (b"\x1b[32m+mine\x1b[0m" in said) == expected
        assert (b"\x1b" in said) == expected


def test_a_pipe_that_nobody_reads_ends_quietly(tmp_path: Path) -> None:
    make_project(tmp_path)
    (tmp_path / "data.py").write_text("mine\n" * 100_000)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    child = subprocess.Popen([*DIFF, tmp_path], **pipes)
    assert child.stdout and child.stderr
    assert child.stdout.readline().startswith(b"diff --git ")
    child.stdout.close()
    assert child.stderr.read() == b""
    assert child.wait(30) == 0
