"""`scaffold doctor`: whether this machine fits the answers of a project, and what to change.

`machine/look.py` looks at the machine, `machine/examine.py` compares it with the answers. The
project's files are read, but its code is never run or imported. Only the import statements of
other packages are tried, in a process of their own.
"""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import typer

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.settings import SETTINGS
from scaffold.commands.screen import printable
from scaffold.errors import AnswerError, ScaffoldError
from scaffold.machine.case import OK, PROBLEM, WARNING, Case, Finding, Needs
from scaffold.machine.examine import examine
from scaffold.machine.look import Machine, Question, look
from scaffold.machine.model import know_model
from scaffold.machine.software import COMMANDS, MODULES, PACKAGES
from scaffold.project.answers import next_answers
from scaffold.project.folder import find_project, read_project
from scaffold.project.read import read_text
from scaffold.project.state import unapplied_answers

COLORS = {OK: typer.colors.GREEN, WARNING: typer.colors.YELLOW, PROBLEM: typer.colors.RED}


def show_fit(folder: Path, as_json: bool) -> None:
    """Print what was found. Exits with 1 if there is a problem. Raises ScaffoldError.

    For other programs it is `{"findings": [{"mark", "check", "found", "change"}]}`, where `mark` is
    ok, warning or problem; later versions may only add keys.
    """
    folder = find_project(folder)
    catalog = load_catalog()
    pristine = read_project(folder)
    try:
        answers = next_answers(catalog, folder, pristine, {})
    except AnswerError as error:
        raise ScaffoldError(f"{folder / pristine.place(SETTINGS)}: {error}") from None
    needs = read_needs(folder, pristine.place("pyproject.toml"))
    output = read_output(folder, pristine.place("config.py"))
    imports = read_imports(folder, pristine.place("train.py"))
    question = what_to_ask(folder, output, answers, needs, imports)
    findings = examine(answers, look(question), needs, know_model(catalog, answers, folder))
    if unapplied_answers(catalog, folder, pristine):
        text = f"{SETTINGS} has changes that the other files do not have yet"
        findings.append(Finding(WARNING, "answers", text, "scaffold update"))
    if as_json:
        typer.echo(json.dumps({"findings": [asdict(finding) for finding in findings]}, indent=1))
    else:
        typer.echo("\n".join(_tell(findings)))
    if any(finding.mark == PROBLEM for finding in findings):
        raise typer.Exit(1)


def read_needs(folder: Path, name: str) -> Needs:
    """What pyproject.toml requires: its owner may have added to it."""
    try:
        text = read_text(folder, name)
        if text is None:
            return Needs(
                problem=f"there is no {name}, so the project's dependencies are not checked"
            )
        project = tomllib.loads(text).get("project", {})
        python, dependencies = project.get("requires-python", ""), project.get("dependencies", [])
        return Needs(str(python), [row for row in dependencies if isinstance(row, str)])
    except (ScaffoldError, ValueError, AttributeError, TypeError) as error:
        return Needs(problem=f"{name} can't be read: {error}")


def read_output(folder: Path, name: str) -> Path:
    """Where runs are written: the default of `output_dir`, without the time in its name."""
    try:
        text = read_text(folder, name) or ""
    except ScaffoldError:
        text = ""
    match = re.search(r'^    output_dir: Path = Path\(f?"([^"\\{]+)', text, re.MULTILINE)
    return folder / (match[1] if match else "runs")


def read_imports(folder: Path, name: str) -> list[tuple[str, str]]:
    """What train.py and the modules that it imports from its folder import from other packages.

    The names of the packages, and the statements. Those inside of functions, `try` and `if` may be
    meant to fail. torch and Accelerate are imported anyway.
    """
    found: dict[str, str] = {}  # packages by statement
    names, seen = [name], set()
    while names:
        name = names.pop()
        seen.add(name)
        try:
            body = ast.parse(read_text(folder, name) or "").body
        except (ScaffoldError, SyntaxError, ValueError):
            continue
        for statement in body:
            if isinstance(statement, ast.Import):
                modules = [alias.name for alias in statement.names]
            elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
                modules = [statement.module]
            else:
                continue
            for package in {module.partition(".")[0]: None for module in modules}:
                own = Path(name).with_name(f"{package}.py").as_posix()
                if (folder / own).is_file():
                    names += [own] if own not in seen else []
                elif package not in sys.stdlib_module_names | {"torch", "accelerate"}:
                    found[ast.unparse(statement)] = package
    return [(package, statement) for statement, package in found.items()]


def what_to_ask(
    folder: Path,
    output: Path,
    answers: Mapping[str, Value],
    needs: Needs,
    imports: Sequence[tuple[str, str]],
) -> Question:
    """What has to be known about the machine."""
    address = str(answers["hardware.main_process_ip"]), int(answers["hardware.main_process_port"])
    return Question(
        folder,
        output,
        packages=PACKAGES | {need.name for need in needs.requirements()},
        modules=MODULES,
        imports=imports,
        commands=COMMANDS,
        address=address if Case(answers, Machine(), needs).meets else None,
    )


def _tell(findings: Sequence[Finding]) -> Iterator[str]:
    """For people: a line for each finding, and below it a line that says what to change."""
    for finding in findings:
        mark = typer.style(f"{finding.mark:<8}", fg=COLORS[finding.mark])
        yield f"{mark} {printable(f'{finding.check}: {finding.found}')}"
        if finding.change:
            yield printable(f"         -> {finding.change}")
    marks = [finding.mark for finding in findings]
    counts = {mark: marks.count(mark) for mark in (PROBLEM, WARNING) if mark in marks}
    words = [f"{count} {mark}{'s' if count > 1 else ''}" for mark, count in counts.items()]
    yield ""
    yield f"{' and '.join(words)}." if words else "This machine is ready for the project."
