"""Copier and cruft on the same templates and edits: real projects, in real git repositories.

Both take a template repository that holds our renders as they are: no file of it is a template of
theirs, so that what they merge is what we merge. Copier has one question, which of the renders a
project is made from; for cruft each render is a commit of the template. A project is made,
committed, edited, committed, and updated, as their manuals say.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from support.files import write_files
from support.outcomes import Files, Outcome, read_project

TOOLS = ("copier", "cruft")


def find_tool(name: str) -> str | None:
    """A command of this environment, or of the path."""
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


class Rival:
    """One of the tools. Templates and projects are made once for each series of renders."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        command = find_tool(name)
        if command is None:
            raise FileNotFoundError(name)
        self.command = command
        folder.mkdir(parents=True)
        (folder / "home").mkdir()
        # no settings of the person who runs the tests, and the same author everywhere
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            "HOME": str(folder / "home"),
            "XDG_CONFIG_HOME": str(folder / "home"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "test",
            "GIT_AUTHOR_EMAIL": "test@example.com",
            "GIT_COMMITTER_NAME": "test",
            "GIT_COMMITTER_EMAIL": "test@example.com",
        }
        self.made: dict[str, tuple[Path, Path]] = {}

    def run(self, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            arguments,
            cwd=cwd,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )

    def do(self, *arguments: str, cwd: Path) -> str:
        """What must not fail, because it is no part of what is measured."""
        result = self.run(*arguments, cwd=cwd)
        assert result.returncode == 0, (arguments, result.stdout, result.stderr)
        return result.stdout

    def commit(self, folder: Path) -> str:
        if not (folder / ".git").exists():
            self.do("git", "init", "--quiet", "--initial-branch=main", cwd=folder)
            # Windows newlines are data here
            self.do("git", "config", "core.autocrlf", "false", cwd=folder)
        self.do("git", "add", "--all", "--force", ".", cwd=folder)
        self.do("git", "commit", "--quiet", "--allow-empty", "--message=change", cwd=folder)
        return self.do("git", "rev-parse", "HEAD", cwd=folder).strip()

    def update(self, renders: Sequence[Mapping[str, str]], edited: Files, folder: Path) -> Outcome:
        """Make the first render, put the edited files in its place, update to all others."""
        template, project = self.prepare(renders)
        shutil.copytree(project, folder, symlinks=True)
        for path in renders[0]:
            (folder / path).unlink()
        self.commit(write_files(folder, edited))
        failed = False
        unmerged: set[str] = set()
        for number in range(1, len(renders)):
            result = self.next(template, folder, number)
            failed |= result.returncode != 0
            listed = self.do("git", "diff", "--name-only", "--diff-filter=U", cwd=folder)
            unmerged |= set(listed.splitlines())
            if number < len(renders) - 1:
                self.commit(folder)
        return Outcome(read_project(folder), failed, frozenset(unmerged))

    def prepare(self, renders: Sequence[Mapping[str, str]]) -> tuple[Path, Path]:
        """A template with these renders, and a project made from the first of them."""
        key = json.dumps([dict(files) for files in renders])
        if key not in self.made:
            place = self.folder / str(len(self.made))
            place.mkdir()
            self.made[key] = getattr(self, f"prepare_{self.name}")(place, renders)
            self.commit(self.made[key][1])
        return self.made[key]

    def next(self, template: Path, folder: Path, number: int) -> subprocess.CompletedProcess[str]:
        if self.name == "copier":
            options = ["--defaults", "--trust", "--quiet", f"--data=variant={number}"]
            return self.run(self.command, "update", *options, cwd=folder)
        tag = ["--checkout", f"v{number}"]
        return self.run(self.command, "update", "--skip-apply-ask", *tag, cwd=folder)

    def prepare_copier(
        self, place: Path, renders: Sequence[Mapping[str, str]]
    ) -> tuple[Path, Path]:
        template, project = place / "template", place / "project"
        for number, files in enumerate(renders):
            write_files(template / str(number), files)
            answers = template / str(number) / "{{ _copier_conf.answers_file }}.jinja"
            answers.write_text("{{ _copier_answers|to_nice_yaml }}", encoding="utf-8")
        (template / "copier.yml").write_text(
            '_subdirectory: "{{ variant }}"\nvariant:\n  type: str\n  default: "0"\n',
            encoding="utf-8",
        )
        self.commit(template)
        self.do("git", "tag", "v0", cwd=template)
        copy = ["copy", "--defaults", "--trust", "--quiet", "--data=variant=0"]
        self.do(self.command, *copy, str(template), str(project), cwd=place)
        return template, project

    def prepare_cruft(self, place: Path, renders: Sequence[Mapping[str, str]]) -> tuple[Path, Path]:
        template = place / "template"
        inside = template / "{{cookiecutter.name}}"
        for number, files in enumerate(renders):
            shutil.rmtree(inside, ignore_errors=True)
            write_files(inside, files)
            (template / "cookiecutter.json").write_text(
                json.dumps({"name": "project", "_copy_without_render": ["*"]}), encoding="utf-8"
            )
            self.commit(template)
            self.do("git", "tag", f"v{number}", cwd=template)
        create = ["create", "--no-input", "--checkout=v0", f"--output-dir={place}"]
        self.do(self.command, *create, str(template), cwd=place)
        return template, place / "project"
