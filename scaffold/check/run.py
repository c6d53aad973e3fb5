"""Checks files: which rules, which lines, what their owner has silenced."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scaffold.check.rule import Rule, all_rules
from scaffold.check.source import Source
from scaffold.errors import ScaffoldError

ENDINGS = (".py", ".ipynb")
SKIPPED = {"__pycache__", "node_modules", "site-packages", "build", "dist"}


@dataclass(frozen=True)
class Finding:
    """A fault, with its mend. Of a notebook, `place` is the cell and the line in that."""

    path: str
    line: int
    column: int
    place: str
    code: str
    text: str


def chosen_rules(select: Sequence[str], ignore: Sequence[str]) -> list[Rule]:
    """The rules whose codes start like one of `select`, and like none of `ignore`."""
    wanted, ignored = (tuple(re.findall(r"[^,\s]+", ",".join(t).upper())) for t in (select, ignore))
    for code in (*wanted, *ignored):
        if not any(rule.code.startswith(code) for rule in all_rules()):
            raise ScaffoldError(f"{code}: no such rule. `scaffold check --rules` lists all")
    rules = [rule for rule in all_rules() if not rule.code.startswith(ignored)]
    return [rule for rule in rules if not wanted or rule.code.startswith(wanted)]


def find_files(paths: Sequence[Path]) -> Iterator[Path]:
    """The files, and those in folders. Raises ScaffoldError for what can't be checked."""
    for path in paths:
        if path.is_dir():
            for found in sorted(path.rglob("*")):
                hidden = any(p[0] == "." or p in SKIPPED for p in found.relative_to(path).parts)
                if found.suffix in ENDINGS and not hidden and found.is_file():
                    yield found
        elif path.suffix not in ENDINGS or not path.is_file():
            raise ScaffoldError(f"{path}: no folder, Python file (.py) or notebook (.ipynb)")
        else:
            yield path


def check_text(path: str, text: str, rules: Sequence[Rule]) -> list[Finding]:
    """What is wrong in one file, by line. Raises ScaffoldError if it is not Python."""
    try:
        source = Source(path, text)
    except (SyntaxError, RecursionError) as error:
        line = getattr(error, "lineno", None) or 1
        raise ScaffoldError(f"{path}:{line}: not valid Python: {error}") from None
    if source.is_notebook and not source.text and text.strip():
        raise ScaffoldError(f"{path}: no code can be read from this notebook")
    rows = source.text.split("\n")
    found: dict[tuple[int, str], Finding] = {}
    for rule in rules:
        for node in rule.find(source):
            line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1
            if not _is_silenced(rows[line - 1 : _end(source, node)], rule.code):
                text = f"{rule.reason}. {rule.mend}"
                finding = Finding(path, line, column, source.place(line), rule.code, text)
                found.setdefault((line, rule.code), finding)
    return [found[key] for key in sorted(found)]


def _end(source: Source, node: ast.AST) -> int:
    """The last line of a statement; of a block, that of its head."""
    parts = (node, *source.above(node))
    statement = next((part for part in parts if isinstance(part, ast.stmt)), node)
    body = getattr(statement, "body", None)
    end = body[0].lineno - 1 if isinstance(body, list) else getattr(statement, "end_lineno", 1)
    return max(int(getattr(statement, "lineno", 1)), int(end))


def _is_silenced(rows: Sequence[str], code: str) -> bool:
    """Whether a line ends with `# noqa`, or with `# noqa: CODE` for this code or its group."""
    for row in rows:
        found = re.search(r"#\s*noqa(?::\s*([A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*))?", row, re.I)
        if found and (not found[1] or code in re.findall(r"\w+", found[1].upper())):
            return True
    return False
