"""`scaffold check`: what is wrong in a training loop, seen without running it."""

from collections.abc import Sequence
from pathlib import Path

import typer

from scaffold.check.report import FORMATS
from scaffold.check.rule import all_rules
from scaffold.check.run import check_text, chosen_rules, find_files
from scaffold.commands.screen import printable
from scaffold.errors import ScaffoldError


def check_files(
    paths: Sequence[Path], select: Sequence[str], ignore: Sequence[str], layout: str
) -> None:
    """Print what is wrong. Exits with 1 if there is something, with 2 if a file can't be read."""
    if layout not in FORMATS:
        raise ScaffoldError(f"--format {layout}: choose one of {', '.join(FORMATS)}")
    if not paths:
        raise ScaffoldError("Name files or folders: scaffold check train.py")
    rules, findings, broken, count = chosen_rules(select, ignore), [], False, 0
    for path in find_files(paths):
        count += 1
        try:
            findings += check_text(str(path), read(path), rules)
        except ScaffoldError as error:
            broken = True
            typer.secho(f"Error: {error}", fg="red", err=True)
    if text := FORMATS[layout](findings):
        typer.echo("\n".join(map(printable, text.split("\n"))))
    if layout == "text":
        files = len({found.path for found in findings})
        typer.echo(f"{len(findings)} fault(s) in {files} of {count} file(s)", err=True)
    if broken or findings:
        raise typer.Exit(2 if broken else 1)


def read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ScaffoldError(f"{path}: can't be read: {error}") from None


def list_rules() -> None:
    for rule in all_rules():
        typer.echo(f"{rule.code}  {rule.reason}")


def explain_rule(code: str) -> None:
    """Print the page of a rule. Raises ScaffoldError if there is none."""
    pages = [rule.page for rule in all_rules() if rule.code == code.strip().upper()]
    if not pages:
        raise ScaffoldError(f"{code}: no such rule. `scaffold check --rules` lists all")
    typer.echo(pages[0])
