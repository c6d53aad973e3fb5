"""Own scripts and notebooks: what they use of a project that is not a Python file."""

import json
import re
from collections.abc import Iterator

from scaffold.merge.checks.update import Update
from scaffold.merge.semantics.infer import Project
from scaffold.merge.semantics.types import Class
from scaffold.merge.source.training import CONFIG

NOTEBOOK = ".ipynb"
SCRIPTS = (".sbatch", ".sh")
# commands of IPython that have several lines
MAGIC = re.compile(r"\A\s*%%(?!time|capture)[\s\S]*|^[ \t]*[%!](?:.*\\\n)+.*", re.M)


def notebook_code(text: str) -> str:
    """The code of a notebook's cells, each below a line `# cell N`. Nothing if it is damaged."""
    try:
        cells = json.loads(text)["cells"]
        sources = [
            (number, "".join(cell["source"]))
            for number, cell in enumerate(cells, start=1)
            if cell["cell_type"] == "code"
        ]
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""
    code = ""
    for number, source in sources:
        plain = MAGIC.sub(lambda found: "#" + "\n" * found[0].count("\n"), source)
        code += f"# cell {number}\n{plain.rstrip()}\n"
    return re.sub(r"(?m)^([ \t]*)[%!?].*$", r"\1pass", code)  # commands of IPython


def cell_of(code: str, line: int) -> str:
    """The cell that a line of `notebook_code` is in."""
    heads = re.findall(r"(?m)^# cell (\d+)$", "\n".join(code.split("\n")[:line]))
    return f"cell {heads[-1]}" if heads else str(line)


def gone_flags(update: Update) -> Iterator[tuple[str, str, int]]:
    """Flags of the training script that own scripts give it, and that are gone."""
    old, new = _settings(update.before), _settings(update.after)
    gone = {name.replace("_", "-"): name for name in old - new} if new else {}
    if not gone:
        return
    pattern = re.compile(rf"(?<![\w-])--(?:no-)?({'|'.join(map(re.escape, gone))})(?![\w-])")
    for path, text in update.scripts.items():
        for number, line in enumerate(text.split("\n"), start=1):
            for found in pattern.finditer(line.partition(" #")[0]):
                yield path, f"{found[0]}: Config has no {gone[found[1]]}", number


def _settings(project: Project) -> set[str]:
    return {
        field
        for path, name in project.definitions
        if name == CONFIG
        for field in project.members(Class(path, name)).fields
    }
