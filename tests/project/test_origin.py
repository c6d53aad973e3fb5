"""A project says which templates wrote it, and older ones do not touch it."""

import os
import subprocess
from pathlib import Path

import pytest

from scaffold import __version__
from scaffold.project import origin
from scaffold.project.origin import Origin, find_origin
from scaffold.project.pristine import read_pristine
from support.command_line import Cli
from support.files import read_files

OLD, NEW = "2026-01-02T03:04:05+01:00", "2026-01-02T02:30:00+00:00"


def written_by(monkeypatch: pytest.MonkeyPatch, digest: str, date: str) -> None:
    """From here on, these are the templates of this scaffold."""
    found = Origin(digest, date)
    for name in ("commands.new", "commands.plan", "commands.adopt", "project.origin"):
        monkeypatch.setattr(f"scaffold.{name}.find_origin", lambda: found)


@pytest.mark.parametrize(
    ("first", "then", "code"),
    [
        (("a", OLD), ("b", NEW), 0),
        (("b", NEW), ("a", OLD), 2),
        (("a", OLD), ("a", OLD), 0),
        (("a", NEW), ("a", OLD), 0),  # the same templates, committed again
        (("a", OLD), ("b", OLD), 0),  # edited since the commit
        (("b", NEW), ("a", ""), 0),  # a package: its version tells
        (("b", ""), ("a", OLD), 0),
        (("b", "a lie"), ("a", OLD), 0),
    ],
)
def test_templates_that_are_older_do_not_touch_a_project(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    first: tuple[str, str],
    then: tuple[str, str],
    code: int,
) -> None:
    project = tmp_path / "digits"
    written_by(monkeypatch, *first)
    assert cli("new", project, "--yes").code == 0
    assert read_pristine(project).templates == Origin(*first).as_table()
    before = read_files(project)
    written_by(monkeypatch, *then)
    result = cli("update", project, "--seed", "3")
    assert result.code == code, result.err
    if code:
        assert f"templates of {NEW}" in result.err and f"are of {OLD}" in result.err
        assert "Upgrade it: `" in result.err
        assert read_files(project) == before
    else:
        assert read_pristine(project).templates == Origin(*then).as_table()


def test_a_newer_version_is_named_with_the_command(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "digits"
    assert cli("new", project, "--yes").code == 0
    monkeypatch.setattr(origin, "__version__", "0.0.9")
    monkeypatch.setattr(origin, "template_root", lambda: tmp_path / "templates")
    before = read_files(project)
    result = cli("add", "ema", project)
    assert result.code == 2 and read_files(project) == before
    assert f"written by scaffold {__version__}, but this is 0.0.9" in result.err
    assert f"`pip install --upgrade 'torch-scaffold>={__version__}'`" in result.err
    (tmp_path / ".git").mkdir()
    assert f"`git -C {tmp_path} pull`" in cli("add", "ema", project).err


def test_the_digest_and_the_date_are_those_of_the_templates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*arguments: str, date: str) -> None:
        names = ["-c", "user.name=me", "-c", "user.email=me@example.com"]
        times = {f"GIT_{who}_DATE": date for who in ("AUTHOR", "COMMITTER")}
        times["GIT_DIR"] = str(tmp_path / ".git")
        command = ["git", *names, *arguments]
        subprocess.run(
            command, cwd=tmp_path, check=True, env=os.environ | times, capture_output=True
        )

    def found() -> Origin:
        find_origin.cache_clear()
        return find_origin()

    monkeypatch.setattr(origin, "template_root", lambda: tmp_path / "templates")
    monkeypatch.setenv("GIT_DIR", "/nowhere")  # as inside of a hook
    (tmp_path / "templates").mkdir()
    path = tmp_path / "templates" / "a.py"
    path.write_text("x = 1\n")
    try:
        one = found()
        assert one.digest and not one.date
        git("init", "-q", date=OLD)
        git("add", "templates", date=OLD)
        git("commit", "-qm", "one", date=OLD)
        assert found() == Origin(one.digest, OLD)
        (tmp_path / "page.md").write_text("a page\n")
        git("add", "page.md", date=NEW)
        git("commit", "-qm", "two", date=NEW)
        assert found().date == OLD, "the templates are the same"
        path.write_text("x = 2\n")
        assert found().digest != one.digest
    finally:
        find_origin.cache_clear()
