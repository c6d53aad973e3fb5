"""Edits by chance, in the language of `edit.py`, so that they can be made to any render.

What an edit adds has a word that nothing else has, `edit_12345`; a name that it changes gets a
tail, `losses_r12345`. What it puts between two statements stands behind the one or before the
other: either is right where an update puts something there, too.
"""

import ast
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from pyflakes.checker import Checker

from corpus.edit import (
    TRAIN,
    Apply,
    CannotEdit,
    Edit,
    Files,
    Place,
    add_import,
    after,
    before,
    both,
    delete,
    find,
    move_file,
    places,
    replace,
    splice,
    sub,
    wrap,
)
from corpus.structure import formatted, rename
from support.canonical import blackened

# how often each file is edited: the loop most of all
WEIGHTS = {TRAIN: 12, "data.py": 4, "model.py": 4, "callbacks.py": 4, "checkpoint.py": 4}
WEIGHTS |= {"config.py": 4, "metrics.py": 3}
ENDS = ast.Return | ast.Raise | ast.Break | ast.Continue
DEFINITION = ast.FunctionDef | ast.ClassDef
IMPORTS = ("import os", "import sys", "import json", "import time", "import warnings")
IMPORTS += ("from collections import Counter", "from functools import partial")
IMPORTS += ("from torch import nn", "from torch.optim import SGD")
IMPORTS += ("from accelerate.utils import find_batch_size", "from metrics import count_steps")
# rows of texts, and what stands beside them
TEXTS = {
    "README.md": (r"([A-Z]|- ).*", "{} was here."),
    ".gitignore": (r"[\w.].*", "{}/"),
    "accelerate.yaml": (r"\w+: .*", "{}: true"),
    "pyproject.toml": (r'    "[\w-]+[<>=~].*",', '    "{}>=1",'),
}
QUOTED = r'(?<!")"([^"\'\\\n]+)"(?!")'


@dataclass(frozen=True)
class Spot:
    """A statement that is found by how it begins, and how the next one of its block begins."""

    path: str
    place: Place
    pattern: str
    source: str
    following: str | None

    @property
    def function(self) -> str:
        return self.place.function

    @property
    def node(self) -> ast.stmt:
        return self.place.node

    @property
    def is_docstring(self) -> bool:
        return self.source.startswith('"""')

    @property
    def is_code(self) -> bool:
        """Whether it is a statement of a function."""
        return self.function.rpartition(".")[2].islower() and not self.is_docstring


@cache
def spots(path: str, text: str) -> tuple[Spot, ...]:
    """The statements that have lines of their own, and that begin as no other one."""
    lines, every = text.splitlines(), places(text)
    patterns = [_pattern(place, lines) for place in every]
    counts = Counter((place.function, row) for place, row in zip(every, patterns, strict=True))
    found = []
    for number, (place, pattern) in enumerate(zip(every, patterns, strict=True)):
        whole = place.node.col_offset == len(place.margin) or hasattr(place.node, "decorator_list")
        if counts[place.function, pattern] > 1 or not whole or pattern.startswith("elif"):
            continue
        later = [row for row in range(number + 1, len(every)) if every[row].start >= place.end]
        following = None
        if later and every[later[0]].margin == place.margin:
            between = lines[place.end : every[later[0]].start]
            following = None if "".join(between).strip() else patterns[later[0]]
        source = textwrap.dedent("\n".join(lines[place.start : place.end]))
        found.append(Spot(path, place, pattern, source, following))
    return tuple(found)


def _pattern(place: Place, lines: Sequence[str]) -> str:
    if not hasattr(place.node, "body"):
        return re.escape(place.text) + "$"
    name = getattr(place.node, "name", "")
    head = " ".join(lines[place.node.lineno - 1].split())
    return rf"(@.* )?(def|class) {name}\b" if name else re.escape(head.rstrip("("))


# the kinds: each makes an edit at a spot, in one or more ways, or finds nothing to do there

Ways = Sequence[Apply]  # the first is the edit; after an update, another one may be right


def beside(spot: Spot, text: str) -> Ways:
    """Lines behind a statement, or before the one that follows it."""
    if isinstance(spot.node, ENDS):
        return ()
    ways = [after(spot.path, spot.pattern, text, spot.function)]
    if spot.following:
        ways.append(before(spot.path, spot.following, text, spot.function))
    return ways


def insert_statement(random: Random, spot: Spot, new: str) -> Ways:
    choices = [f'print("{new}")', f"{new} = 3\nprint({new})"]
    if isinstance(spot.node, ast.Assign) and isinstance(spot.node.targets[0], ast.Name):
        name = spot.node.targets[0].id
        choices += [f'assert {name} is not None, "{new}"', f'print("{new}", {name})']
        choices += [f'if {name} is None:\n    raise ValueError("{new}")']
    return beside(spot, random.choice(choices)) if spot.is_code else ()


def insert_comment(random: Random, spot: Spot, new: str) -> Ways:
    more = random.choice(["", "\n# and here"])
    return beside(spot, f"# {new}: look here{more}") if spot.is_code else ()


def comment_line(random: Random, spot: Spot, new: str) -> Ways:
    if "\n" in spot.source or "#" in spot.source or spot.is_docstring:
        return ()
    return [replace(spot.path, spot.pattern, f"{spot.source}  # {new}", spot.function)]


def add_field(random: Random, spot: Spot, new: str) -> Ways:
    """A field of Config, and its use behind what makes the accelerator."""
    if spot.function != "Config" or not isinstance(spot.node, ast.AnnAssign):
        return ()
    row = random.choice(["int = 3", "float = 0.5", 'str = "a"', "bool = True  # mine"])
    use = after(TRAIN, r"accelerator = ", f"print(config.{new})", "main")
    return [both(way, use) for way in beside(spot, f"{new}: {row}")]


def change_value(random: Random, spot: Spot, new: str) -> Ways:
    """A number or a text, with what stands before it on its line."""
    if spot.is_docstring or hasattr(spot.node, "body"):
        return ()
    found = [*re.finditer(rf".{{0,20}}?(?<![\w.])(\d+(?:\.\d+)?|{QUOTED})(?![\w.])", spot.source)]
    if not found:
        return ()
    match = random.choice(found)
    old, value = match[0], match[1]
    number = new.removeprefix("edit_")
    other = f'{value[:-1]}_{new}"' if '"' in value else f"0.{number}" if "." in value else number
    return [sub(spot.path, re.escape(old), lambda _: old.removesuffix(value) + other)]


def add_keyword(random: Random, spot: Spot, new: str) -> Ways:
    """An argument of a call that stands on one line."""
    calls = [
        ast.get_source_segment(spot.source, node) or ""
        for node in ast.walk(ast.parse(spot.source))
        if isinstance(node, ast.Call) and not hasattr(spot.node, "body")
        if node.args or node.keywords
    ]
    calls = [call for call in calls if "\n" not in call and not call.endswith(" for")]
    if not calls or "return" in spot.source.split()[:1]:
        return ()
    call = random.choice(calls)
    return [sub(spot.path, re.escape(call), lambda _: f"{call[:-1]}, {new}=1)")]


def import_name(random: Random, spot: Spot, new: str) -> Ways:
    """An import and a statement that uses it."""
    row = random.choice(IMPORTS)
    use = beside(spot, f'print("{new}", {row.split()[-1]})') if spot.is_code else ()
    return [both(add_import(spot.path, row), way) for way in use]


def add_definition(random: Random, spot: Spot, new: str) -> Ways:
    """A function, a class or a method."""
    if not isinstance(spot.node, DEFINITION) or spot.is_code:
        return ()
    if spot.function:
        return beside(spot, f'\ndef {new}(self) -> str:\n    """Mine."""\n    return "{new}"')
    text = f'def {new}(value):\n    """Mine."""\n    return 2 * value'
    if random.random() < 0.3:
        text = f"class {new}:\n    def go(self) -> int:\n        return 3"
    return beside(spot, text)


def delete_statement(random: Random, spot: Spot, new: str) -> Ways:
    simple = isinstance(spot.node, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign)
    return [delete(spot.path, spot.pattern, spot.function)] if simple and spot.is_code else ()


def wrap_statements(random: Random, spot: Spot, new: str) -> Ways:
    last = random.choice([spot.pattern, spot.following or spot.pattern])
    head, tail = f"if True:  # {new}", ""
    if random.random() < 0.3:
        head, tail = "try:", f'finally:\n    print("{new}")'
    elif spot.path == TRAIN and random.random() < 0.6:
        head = f'with torch.profiler.record_function("{new}"):'
    if not spot.is_code or '"""' in spot.source:
        return ()
    ways = [wrap(spot.path, spot.pattern, last, head, spot.function, tail)]
    if spot.following and last == spot.pattern:

        def up_to_the_next(files: Files) -> None:
            (end,) = find(files[spot.path], spot.following or "", spot.function)
            mark = splice(files[spot.path], end.start, end.start, [f"{end.margin}'here'"])
            files[spot.path] = mark
            wrap(spot.path, spot.pattern, "'here'", head, spot.function, tail)(files)
            files[spot.path] = re.sub(r"(?m)^ *'here'\n", "", files[spot.path])

        ways.append(up_to_the_next)
    return ways


def rename_local(random: Random, spot: Spot, new: str) -> Ways:
    """A variable of a function, everywhere in it."""
    if not spot.is_code or "." in spot.function or not isinstance(spot.node, ast.Assign):
        return ()
    targets = [node.id for node in ast.walk(spot.node.targets[0]) if isinstance(node, ast.Name)]
    old = random.choice(targets)
    tail = new.removeprefix("edit_")
    return [rename(old, f"{old}_r{tail}", spot.path, function=spot.function)]


def rename_function(random: Random, spot: Spot, new: str) -> Ways:
    """A function, in all files."""
    old = getattr(spot.node, "name", "main")
    if spot.function or not isinstance(spot.node, DEFINITION) or old == "main":
        return ()
    tail = new.removeprefix("edit_")

    def apply(files: Files) -> None:
        code = [path for path in files if path.endswith(".py")]
        rename(old, f"{old}_r{tail}", *code)(files)
        if any(re.search(rf"\b{old}\b", files[path]) for path in code):
            raise CannotEdit(f"{old} is named in another way")

    return [apply]


def move_module(random: Random, spot: Spot, new: str) -> Ways:
    """A module under another name, and what imports it."""
    old = spot.path.removesuffix(".py")
    if spot.path not in WEIGHTS or spot.path == TRAIN:
        return ()
    name = f"{old}_r{new.removeprefix('edit_')}"

    def follow(files: Files) -> None:
        for path, text in files.items():
            if path.endswith(".py"):
                files[path] = re.sub(rf"(?m)^( *from ){old}(?= import)", rf"\1{name}", text)
                if re.search(rf"\bimport {old}\b|[\"']{old}\.", text):
                    raise CannotEdit(f"{path} imports {old} in another way")

    return [both(move_file(spot.path, f"{name}.py"), follow)]


def reformat(random: Random, spot: Spot, new: str) -> Ways:
    return [formatted(spot.path, length=random.choice([79, 88, 120]))]


def single_quotes(random: Random, spot: Spot, new: str) -> Ways:
    return [sub(spot.path, QUOTED, r"'\1'", None)]


def reorder(random: Random, spot: Spot, new: str) -> Ways:
    """Two definitions that follow each other."""
    if not isinstance(spot.node, DEFINITION) or spot.is_code or not spot.following:
        return ()

    def apply(files: Files) -> None:
        text = files[spot.path]
        (one,), (two,) = (
            find(text, pattern, spot.function) for pattern in (spot.pattern, spot.following or "")
        )
        lines = text.splitlines()
        between = lines[one.end : two.start]
        if two.start < one.end or "".join(between) or not isinstance(two.node, DEFINITION):
            raise CannotEdit("they do not follow each other")
        rows = [*lines[two.start : two.end], *between, *lines[one.start : one.end]]
        files[spot.path] = splice(text, one.start, two.end, rows)

    return [apply]


def edit_docstring(random: Random, spot: Spot, new: str) -> Ways:
    if not spot.is_docstring or "\n" in spot.source:
        return ()
    more = random.choice([f' {new}."""', f'\n\nMore: {new}.\n"""'])
    text = spot.source.removesuffix('"""') + more
    return [replace(spot.path, spot.pattern, text, spot.function)]


Kind = Callable[[Random, Spot, str], Ways]
# how often each is made
KINDS: dict[Kind, int] = {
    insert_statement: 5,
    insert_comment: 2,
    comment_line: 2,
    add_field: 2,
    change_value: 4,
    add_keyword: 3,
    import_name: 2,
    add_definition: 2,
    delete_statement: 2,
    wrap_statements: 3,
    rename_local: 2,
    rename_function: 1,
    move_module: 1,
    reformat: 1,
    single_quotes: 1,
    reorder: 1,
    edit_docstring: 1,
}


def edit_text(random: Random, files: Files, new: str) -> Ways:
    """A row of a text or of a list, beside another one."""
    path = random.choice(sorted(TEXTS.keys() & files.keys()))
    pattern, text = TEXTS[path]
    lines, row = files[path].splitlines(), text.format(new)
    number = random.choice([n for n, line in enumerate(lines) if re.fullmatch(pattern, line)])
    ways = [sub(path, rf"^{re.escape(lines[number])}$", lambda match: f"{match[0]}\n{row}")]
    if number + 1 < len(lines) and lines[number + 1]:
        below = rf"^{re.escape(lines[number + 1])}$"
        ways.append(sub(path, below, lambda match: f"{row}\n{match[0]}"))
    return ways


def reformat_all(random: Random, files: Files, new: str) -> Ways:
    """All files of Python; those that an update brings may be as they are generated."""
    length, known = random.choice([79, 88, 120]), [path for path, _ in _code(files)]
    return [formatted(length=length), formatted(*known, length=length)]


WHOLE = {edit_text: 3, reformat_all: 1}  # what looks at no statement


# drawing one


def draw(random: Random, files: Files, theirs: Files | None = None) -> tuple[Edit, Files]:
    """An edit, and the files with it; with `theirs`, near what these have otherwise."""
    while True:
        kind = random.choices([*KINDS, *WHOLE], [*KINDS.values(), *WHOLE.values()])[0]
        edit = make(random, files, kind, theirs)
        if edit:
            return edit


def make(
    random: Random, files: Files, kind: Kind | Callable[..., Ways], theirs: Files | None = None
) -> tuple[Edit, Files] | None:
    """An edit of this kind, or None where it found nothing to do."""
    new = f"edit_{random.randrange(10_000, 100_000)}"
    ways = kind(random, files if kind in WHOLE else _spot(random, files, theirs), new)
    if not ways:
        return None
    if kind not in (reformat, reformat_all, single_quotes):
        ways = [_tidy(way) for way in ways]
    edit = Edit(f"{kind.__name__} {new}", "", new, ways[0], tuple(ways[1:]))
    try:
        edited = edit(files)
        if any(lint(text) - lint(files.get(path, "")) for path, text in _code(edited)):
            return None  # nobody makes it like that
    except (CannotEdit, SyntaxError):
        return None
    return edit, edited


def _spot(random: Random, files: Files, theirs: Files | None) -> Spot:
    paths = sorted(path for path in files if path.endswith(".py"))
    path = random.choices(paths, [WEIGHTS.get(path, 1) for path in paths])[0]
    found = spots(path, files[path])
    if theirs and path in theirs:
        same = {(spot.pattern, spot.following) for spot in spots(path, theirs[path])}
        found = [spot for spot in found if (spot.pattern, spot.following) not in same] or found
    return random.choice(found)


def _code(files: Files) -> list[tuple[str, str]]:
    return [(path, text) for path, text in files.items() if path.endswith(".py")]


def _tidy(apply: Apply) -> Apply:
    """The edit, after which each file is formatted that was so before."""

    def step(files: Files) -> None:
        was = dict(files)
        apply(files)
        for path, text in _code(files):
            if was.get(path, text) != text and blackened(was[path]) == was[path]:
                ast.parse(text)  # or it is no edit
                files[path] = blackened(text)

    return step


@cache
def lint(text: str) -> Counter[str]:
    """What pyflakes says, without line numbers."""
    messages = Checker(ast.parse(text), "file.py").messages
    return Counter(message.message % message.message_args for message in messages)
