"""Pages that no manifest holds: the command line, the merge, examples, other frameworks."""

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any


def text(name: str) -> str:
    """A text of `pages/`, in Markdown."""
    return (_pages() / f"{name}.md").read_text(encoding="utf-8")


def _pages() -> Path:
    return Path(str(resources.files("scaffold"))) / "web" / "pages"


def command_line(app: Any) -> str:
    """All commands of a Typer app with their arguments and options, as they are declared."""
    import typer

    group: Any = typer.main.get_command(app)
    parts = ["# The command line", group.help]
    for name, command in group.commands.items():
        parts += [f"## scaffold {name}", _wrapped(command.help or "")]
        rows = [_parameter(part) for part in command.params if part.name != "help"]
        if rows:
            parts.append("\n".join(["| | |", "| --- | --- |", *rows]))
    parts += [
        "## Exit codes",
        "0: done. 1: there are conflicts, warnings or faults to look at. 2: bad input.",
    ]
    return "\n\n".join(parts) + "\n"


def _wrapped(words: str) -> str:
    return re.sub(r"(?<!\n)\n(?!\n)", " ", words.strip())


def _parameter(part: Any) -> str:
    if part.param_type_name == "argument":
        names = f"`{part.metavar or part.name.upper()}`"
    else:
        names = ", ".join(f"`{name}`" for name in [*part.opts, *part.secondary_opts])
        if part.metavar:
            names += f" `{part.metavar}`"
    words = (getattr(part, "help", "") or "").replace("|", "\\|")
    return f"| {names} | {_wrapped(words)} |"


def merge() -> str:
    """How an update decides: the docstrings of the merge."""
    parts = [text("merge")]
    folder = Path(str(resources.files("scaffold"))) / "merge"
    rows = ["| file | what it knows |", "| --- | --- |"]
    for path in sorted(folder.rglob("*.py")):
        words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        if words:
            first = _wrapped(words.split("\n\n")[0]).replace("|", "\\|")
            rows.append(f"| `{path.relative_to(folder).as_posix()}` | {first} |")
    return "\n\n".join([*parts, "## The rules, file by file", "\n".join(rows)]) + "\n"


def example(title: str, folder: Path, pictures: list[str]) -> str:
    """A generated example: its run, and the pictures that it made."""
    run = json.loads((folder / "result" / "run.json").read_text(encoding="utf-8"))
    log = "\n".join(map(str, run.get("log", [])))
    machine, seconds = run.get("machine"), run.get("seconds")
    parts = [f"# {title}", f"Trained on {machine} in {seconds} seconds, with `{run['command']}`."]
    parts += [f"```text\n{log}\n```"]
    parts += [f"![What the run of this example drew]({name})" for name in pictures]
    script = folder / "train.py"
    if script.is_file():
        parts += ["## train.py", f"```python\n{script.read_text(encoding='utf-8')}```"]
    return "\n\n".join(parts) + "\n"


# coming from another framework


def frameworks() -> dict[str, str]:
    """The title of each by name."""
    found = {name: read_framework(name) for name in _names()}
    return {name: str(data["title"]) for name, data in found.items()}


def _names() -> Iterator[str]:
    yield from sorted(path.stem for path in (_pages() / "coming-from").glob("*.toml"))


def read_framework(name: str) -> dict[str, Any]:
    path = _pages() / "coming-from" / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _side(title: str, code: str) -> list[str]:
    return [f"**{title}**", f"```python\n{code.strip(chr(10))}\n```"]


def coming_from(name: str) -> str:
    """What each line of a script became, step by step, side by side."""
    data = read_framework(name)
    parts = [f"# Coming from {data['title']}", data["about"]]
    for row in data["row"]:
        parts += [f"## {row['title']}", row.get("note", "")]
        where = f"Your `{row.get('file', 'train.py')}`"
        parts += ['<div class="beside"><div>', *_side(data["title"], row["theirs"])]
        parts += ["</div><div>", *_side(where, row["ours"]), "</div></div>"]
    return "\n\n".join(part for part in parts if part) + "\n"
