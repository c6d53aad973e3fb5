"""Random edits of a generated project, as people make them: what the tests of merging start from.

An edit takes a random generator and the text of each file, and returns the files edited, or None
where it found nothing to do. What it adds holds a token that nothing else holds, `edit_12345`; a
name that it changes gets a tail, `losses_r12345`. So `test_fuzz.py` can tell where an edit went
without knowing how anything is merged. Python stays Python that parses and that pyflakes accepts.
"""

import ast
import io
import re
import textwrap
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from random import Random

import black
from black.mode import TargetVersion
from pyflakes.checker import Checker

Files = dict[str, str]
Edit = Callable[[Random, Files], Files | None]

# how often each file is edited: the loop most of all
WEIGHTS = {
    "train.py": 12,
    "data.py": 4,
    "model.py": 4,
    "callbacks.py": 4,
    "checkpoint.py": 4,
    "config.py": 4,
    "metrics.py": 3,
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Block:
    """A list of statements, and the function, class or module that it belongs to."""

    scope: str  # the qualified name, "" for a module
    function: Function | None
    body: list[ast.stmt]


class Module:
    """A file of Python, its lines and its statements."""

    def __init__(self, text: str) -> None:
        self.text, self.tree = text, ast.parse(text)
        self.lines = text.splitlines(keepends=True)
        self.blocks = [block for block in _blocks(self.tree, "", None) if self._is_own(block)]

    def _is_own(self, block: Block) -> bool:
        """Whether a block has lines of its own, unlike `if x: return` and `elif x:`."""
        start = block.body[0]
        row = self.lines[start.lineno - 1]
        return not row[: start.col_offset].strip() and not row[start.col_offset :].startswith(
            "elif"
        )

    def names(self) -> set[str]:
        """Everything that is called something in this file."""
        return set(re.findall(r"\w+", self.text))

    def functions(self) -> list[Function]:
        return [node for node in ast.walk(self.tree) if isinstance(node, Function)]

    def replace(self, start: int, end: int, rows: list[str]) -> str:
        """The text with other lines in place of those from `start` up to `end`, counted from 0."""
        return "".join([*self.lines[:start], *(f"{row}\n" for row in rows), *self.lines[end:]])

    def splice(self, changes: list[tuple[int, int, int, str]]) -> str:
        """The text with each (line from 1, column, column after, new text) put in."""
        rows = [row.encode() for row in self.lines]  # ast counts columns in bytes
        for line, start, end, new in sorted(changes, reverse=True):
            rows[line - 1] = rows[line - 1][:start] + new.encode() + rows[line - 1][end:]
        return b"".join(rows).decode()


def _blocks(node: ast.AST, scope: str, function: Function | None) -> Iterator[Block]:
    for _, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        if children and all(isinstance(child, ast.stmt) for child in children):
            yield Block(scope, function, children)
        for child in children:
            if isinstance(child, Function):
                yield from _blocks(child, f"{scope}.{child.name}".strip("."), child)
            elif isinstance(child, ast.ClassDef):
                yield from _blocks(child, f"{scope}.{child.name}".strip("."), None)
            elif isinstance(child, ast.stmt | ast.excepthandler):
                yield from _blocks(child, scope, function)


def token(random: Random) -> str:
    return f"edit_{random.randrange(10_000, 100_000)}"


def is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def first_line(statement: ast.stmt) -> int:
    """The first line of a statement, from 1: that of its first decorator, if it has one."""
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(node.lineno for node in decorators)])


def lint(text: str) -> Counter[str]:
    """What pyflakes says, without line numbers."""
    return Counter(_lint(text))


@lru_cache(1000)
def _lint(text: str) -> tuple[str, ...]:
    messages = Checker(ast.parse(text), "file.py").messages
    return tuple(message.message % message.message_args for message in messages)


def tidy(before: str, after: str) -> str:
    """The edited text as black has it, if the file was so before."""
    return after if style(before, 100) != before else style(after, 100)


@lru_cache(1000)
def style(text: str, length: int, quotes: bool = True) -> str:
    mode = black.Mode({TargetVersion.PY311}, length, string_normalization=quotes)
    return black.format_str(text, mode=mode)


def _python(files: Files) -> list[str]:
    return [name for name in files if name.endswith(".py")]


def _pick(random: Random, files: Files) -> tuple[str, Module]:
    names = sorted(_python(files))
    weights = [WEIGHTS.get(re.sub(r"_r\d{5}", "", name), 1) for name in names]
    name = random.choices(names, weights)[0]
    return name, Module(files[name])


def _places(module: Module) -> list[tuple[Block, int]]:
    """Each block of a function, and a number of its statements to insert something before."""
    return [
        (block, number)
        for block in module.blocks
        if block.function
        for number in range(len(block.body) + 1)
        if not (number == 0 and is_docstring(block.body[0]))
        # nothing is reached behind one of these
        if not (
            number
            and isinstance(
                block.body[number - 1], ast.Return | ast.Raise | ast.Break | ast.Continue
            )
        )
    ]


def _known(block: Block, number: int) -> list[str]:
    """Names that certainly have a value before a statement of a block."""
    assert block.function
    arguments = block.function.args
    names = {argument.arg for argument in [*arguments.args, *arguments.kwonlyargs]}
    for body in (block.body[:number], block.function.body):
        for statement in body:
            if body is block.function.body and (
                block.body is not body and statement.end_lineno >= block.body[0].lineno
            ):
                break
            if body is block.function.body and block.body is body:
                break
            for node in ast.walk(statement) if isinstance(statement, ast.Assign) else []:
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    names.add(node.id)
    return sorted(names - {"self"})


def _insert(random: Random, module: Module, block: Block, number: int, rows: list[str]) -> str:
    """The text with lines at a place of a block: behind the statement above it, or before this."""
    indent = " " * block.body[0].col_offset
    behind = number == len(block.body) or (number and random.random() < 0.5)
    above = block.body[number - 1].end_lineno or 0
    at = above if behind else first_line(block.body[number]) - 1
    return module.replace(at, at, [indent + row if row else row for row in rows])


def insert_statement(random: Random, files: Files) -> Files | None:
    name, module = _pick(random, files)
    places = _places(module)
    if not places:
        return None
    block, number = random.choice(places)
    new, known = token(random), _known(block, number)
    choices = [[f'print("{new}")'], [f"{new} = 3", f"print({new})"]]
    if known:
        value = random.choice(known)
        choices += [
            [f'print("{new}", {value})'],
            [f"{new} = repr({value})", f'print(f"{{{new}}}")'],
            [f'assert {value} is not None, "{new}"'],
            [f"if {value} is None:", f'    raise ValueError("{new}")'],
        ]
    if "log" in known or re.search(r"^from progress import .*\blog\b", module.text, re.MULTILINE):
        choices += [[f'log(f"{new} {{vars()}}")']] * 2
    return {**files, name: _insert(random, module, block, number, random.choice(choices))}


def insert_comment(random: Random, files: Files) -> Files | None:
    name, module = _pick(random, files)
    places = _places(module)
    if not places:
        return None
    block, number = random.choice(places)
    rows = [f"# {token(random)}: look here"]
    if random.random() < 0.3:
        rows.append(f"# {token(random)}: and here")
    return {**files, name: _insert(random, module, block, number, rows)}


def trailing_comment(random: Random, files: Files) -> Files | None:
    name, module = _pick(random, files)
    lines = [
        statement.lineno
        for block in module.blocks
        for statement in block.body
        if statement.lineno == statement.end_lineno and not is_docstring(statement)
        if "#" not in module.lines[statement.lineno - 1]
    ]
    if not lines:
        return None
    line = random.choice(lines)
    row = f"{module.lines[line - 1].rstrip()}  # {token(random)}"
    return {**files, name: module.replace(line - 1, line, [row])}


def _config(module: Module) -> Block | None:
    for block in module.blocks:
        if block.scope == "Config":
            return block
    return None


def add_field(random: Random, files: Files) -> Files | None:
    """A field of Config, and its use in `main`."""
    home = "config.py" if "config.py" in files else "train.py"
    module = Module(files[home])
    config = _config(module)
    if config is None:
        return None
    new = token(random)
    kind, value = random.choice([("int", "3"), ("float", "0.5"), ("str", '"a"'), ("bool", "True")])
    tail = random.choice(["", "  # mine"])
    number = random.randrange(1, len(config.body) + 1)
    text = _insert(random, module, config, number, [f"{new}: {kind} = {value}{tail}"])
    files = {**files, home: text}
    module = Module(files["train.py"])
    places = [
        place
        for place in _places(module)
        if place[0].scope.startswith("main") and "config" in _known(*place)
    ]
    if not places:
        return None
    block, number = random.choice(places)
    script = _insert(random, module, block, number, [f"print(config.{new})"])
    return {**files, "train.py": script}


def change_literal(random: Random, files: Files) -> Files | None:
    name, module = _pick(random, files)
    inside = {
        id(child)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Expr) and is_docstring(node))
        for child in ast.walk(node)
    }
    literals = [
        node
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and id(node) not in inside
        if node.lineno == node.end_lineno and not isinstance(node.value, bool | bytes)
        if isinstance(node.value, int | float | str)
    ]
    if not literals:
        return None
    node = random.choice(literals)
    number = random.randrange(10_000, 100_000)
    segment = ast.get_source_segment(module.text, node) or ""
    if isinstance(node.value, str):
        if not re.fullmatch(r"(\"|')[^\"'\\]*\1", segment):
            return None
        new = f"{segment[:-1]}_edit_{number}{segment[-1]}"
    else:
        new = str(number) if isinstance(node.value, int) else f"0.{number}"
    return {
        **files,
        name: module.splice([(node.lineno, node.col_offset, node.end_col_offset or 0, new)]),
    }


def change_default(random: Random, files: Files) -> Files | None:
    """Another default of a field of Config."""
    name = "config.py" if "config.py" in files else "train.py"
    module = Module(files[name])
    config = _config(module)
    fields = [
        statement.value
        for statement in (config.body if config else [])
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.value, ast.Constant)
        if isinstance(statement.value.value, int | float)
    ]
    if not fields:
        return None
    node = random.choice(fields)
    number = random.randrange(10_000, 100_000)
    new = f"0.{number}" if isinstance(node.value, float) else str(number)
    if isinstance(node.value, bool):
        new = str(not node.value)
    change = (node.lineno, node.col_offset, node.end_col_offset or 0, new)
    return {**files, name: module.splice([change])}


KEYWORDS = {
    "F.cross_entropy": ["label_smoothing=0.{}"],
    "compute_loss": ["edit_{}=1"],
    "AdamW": ["eps=0.{}", "amsgrad=True"],
    "Accelerator": ["step_scheduler_with_optimizer=False", 'rng_types=["generator"]'],
    "DataLoader": ["pin_memory=True", "timeout={}"],
    "nn.Dropout": ["inplace=True"],
    "nn.Conv2d": ["dilation={}"],
    "EarlyStopping": ["edit_{}=1"],
    "evaluate": ["edit_{}=1"],
    "build_loaders": ["edit_{}=1"],
    "Checkpoints": ["edit_{}=1"],
}


def add_keyword(random: Random, files: Files) -> Files | None:
    """A keyword argument of a call: the file is formatted again if it was formatted before."""
    name, module = _pick(random, files)
    calls = [
        (node, keyword)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        for keyword in KEYWORDS.get(ast.unparse(node.func), [])
        if not any(isinstance(child, ast.Starred) for child in node.args)
        if keyword.split("=")[0] not in [given.arg for given in node.keywords]
    ]
    if not calls:
        return None
    node, keyword = random.choice(calls)
    keyword = keyword.format(random.randrange(10_000, 100_000))
    line, column = node.end_lineno or 0, (node.end_col_offset or 1) - 1
    given = [*node.args, *node.keywords]
    alone = not module.lines[line - 1][:column].strip()  # the bracket, on its line
    if alone and module.lines[line - 2].rstrip().endswith(","):
        text = module.replace(line - 1, line - 1, [f"{' ' * (column + 4)}{keyword},"])
    elif given:
        last = max(given, key=lambda row: (row.end_lineno or 0, row.end_col_offset or 0))
        end = last.end_col_offset or 0
        text = module.splice([(last.end_lineno or 0, end, end, f", {keyword}")])
    else:
        text = module.splice([(line, column, column, keyword)])
    return {**files, name: tidy(module.text, text)}


IMPORTS = {
    "import os": "os",
    "import sys": "sys",
    "import json": "json",
    "import time": "time",
    "import warnings": "warnings",
    "from collections import Counter": "Counter",
    "from contextlib import nullcontext": "nullcontext",
    "from functools import partial": "partial",
    "from itertools import chain": "chain",
    "import torch.distributed as dist": "dist",
    "from torch import nn": "nn",
    "from torch.optim import SGD": "SGD",
    "from accelerate.utils import find_batch_size": "find_batch_size",
    "from metrics import count_steps": "count_steps",
}


def add_import(random: Random, files: Files) -> Files | None:
    """An import, beside another, and a statement that uses it."""
    name, module = _pick(random, files)
    known = module.names()
    choices = [
        row
        for row, bound in IMPORTS.items()
        if bound not in known and not (name == "progress.py" and "progress" in row)
    ]
    places = _places(module)
    top = [node for node in module.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    if not choices or not places or not top:
        return None
    row = random.choice(choices)
    block, number = random.choice(places)
    text = _insert(random, module, block, number, [f'print("{token(random)}", {IMPORTS[row]})'])
    module_name = row.split()[1]
    same = [
        node
        for node in top
        if isinstance(node, ast.ImportFrom)
        and node.module == module_name
        and row.startswith("from")
        and node.lineno == node.end_lineno
        and "#" not in module.lines[node.lineno - 1]
    ]
    if same and random.random() < 0.7:  # into the statement that is there
        names = sorted([*(alias.name for alias in same[0].names), IMPORTS[row]])
        joined = f"from {module_name} import {', '.join(names)}"
        if all(alias.asname is None for alias in same[0].names) and len(joined) <= 100:
            lines = same[0].lineno - 1, same[0].lineno
            return {**files, name: Module(text).replace(*lines, [joined])}
    before = [node for node in top if _module_of(node) <= module_name]
    at = random.choice([before[-1] if before else top[0], top[0], top[-1]])
    return {**files, name: Module(text).replace(at.end_lineno or 0, at.end_lineno or 0, [row])}


def _module_of(node: ast.Import | ast.ImportFrom) -> str:
    return node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name


def add_function(random: Random, files: Files) -> Files | None:
    """A function or a class at the top level."""
    name, module = _pick(random, files)
    new = token(random)
    rows = random.choice(
        [
            [f"def {new}(value):", '    """Mine."""', "    return 2 * value"],
            [f"def {new}() -> None:", f'    print("{new}")'],
            [
                f"class {new}:",
                '    """Mine."""',
                "",
                "    def go(self) -> int:",
                "        return 3",
            ],
        ]
    )
    places = [
        number
        for number, node in enumerate(module.tree.body)
        if number and isinstance(node, Function | ast.ClassDef)
    ]
    if not places:
        return None
    node = module.tree.body[random.choice(places)]
    if random.random() < 0.6:
        at = node.end_lineno or 0
        return {**files, name: module.replace(at, at, ["", "", *rows])}
    at = first_line(node) - 1
    if at and module.lines[at - 1].startswith("#"):
        return None
    return {**files, name: module.replace(at, at, [*rows, "", ""])}


def add_method(random: Random, files: Files) -> Files | None:
    name, module = _pick(random, files)
    methods = [
        node
        for owner in ast.walk(module.tree)
        if isinstance(owner, ast.ClassDef)
        for node in owner.body
        if isinstance(node, Function)
    ]
    if not methods:
        return None
    node = random.choice(methods)
    new = token(random)
    rows = [f"    def {new}(self) -> str:", '        """Mine."""', f'        return "{new}"']
    at = node.end_lineno or 0
    return {**files, name: module.replace(at, at, ["", *rows])}


def delete_statement(random: Random, files: Files) -> Files | None:
    """One whose removal pyflakes accepts."""
    name, module = _pick(random, files)
    simple = [
        statement
        for block in module.blocks
        if len(block.body) > 1
        for statement in block.body
        if isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Assert)
        if not is_docstring(statement)
    ]
    random.shuffle(simple)
    for statement in simple[:6]:
        text = module.replace(statement.lineno - 1, statement.end_lineno or 0, [])
        if not lint(text) - lint(module.text):
            return {**files, name: text}
    return None


def wrap(random: Random, files: Files) -> Files | None:
    """Some statements of a block inside a `with`, an `if` or a `try`."""
    name, module = _pick(random, files)
    runs = []
    for block in module.blocks:
        if not block.function:
            continue
        for start in range(len(block.body)):
            for end in range(start + 1, min(start + 4, len(block.body) + 1)):
                run = block.body[start:end]
                text = "".join(module.lines[run[0].lineno - 1 : run[-1].end_lineno])
                if '"""' not in text and not any(isinstance(node, Function) for node in run):
                    runs.append(run)
    if not runs:
        return None
    run = random.choice(runs)
    start, end = run[0].lineno - 1, run[-1].end_lineno or 0
    indent, new = " " * run[0].col_offset, token(random)
    inner = textwrap.indent("".join(module.lines[start:end]), "    ").splitlines()
    heads = [f"if True:  # {new}", "try:", f'for {new} in "a":']
    if any(isinstance(node, ast.Break | ast.Continue) for top in run for node in ast.walk(top)):
        heads.pop()
    if "import torch\n" in module.text:
        heads += [f'with torch.profiler.record_function("{new}"):'] * 3
    head = random.choice(heads)
    rows = [indent + head, *inner]
    if head == "try:":
        rows += [f"{indent}finally:", f'{indent}    print("{new}")']
    return {**files, name: module.replace(start, end, rows)}


def rename_local(random: Random, files: Files) -> Files | None:
    """A local variable of one function, everywhere in it."""
    name, module = _pick(random, files)
    functions = module.functions()
    random.shuffle(functions)
    for function in functions[:5]:
        nodes = list(ast.walk(function))
        taken = {
            argument.arg
            for node in nodes
            if isinstance(node, ast.arguments)
            for argument in [*node.args, *node.kwonlyargs, node.vararg, node.kwarg]
            if argument
        }
        taken |= {
            name
            for node in nodes
            if isinstance(node, ast.Global | ast.Nonlocal)
            for name in node.names
        }
        names = sorted(
            {
                node.id
                for node in nodes
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
            - taken
        )
        if not names:
            continue
        old = random.choice(names)
        text = _rename(module, old, f"{old}_r{random.randrange(10_000, 100_000)}", function)
        if not lint(text) - lint(module.text):
            return {**files, name: tidy(module.text, text) if random.random() < 0.7 else text}
    return None


def _rename(module: Module, old: str, new: str, within: ast.AST | None = None) -> str:
    """The text with another name for a variable or a function, in f-strings too."""
    root = within or module.tree
    bare = set()
    for node in ast.walk(root):
        if isinstance(node, ast.Name) and node.id == old:
            bare.add((node.lineno, node.col_offset))
        elif isinstance(node, Function) and node.name == old:
            bare.add(
                (node.lineno, node.col_offset + (9 if "Async" in type(node).__name__ else 3) + 1)
            )
        elif isinstance(node, ast.ImportFrom):
            bare |= {(alias.lineno, alias.col_offset) for alias in node.names if alias.name == old}
    first, last = getattr(root, "lineno", 1), getattr(root, "end_lineno", len(module.lines))
    changes = []
    for found in tokenize.generate_tokens(io.StringIO(module.text).readline):
        (line, start), (end_line, end) = found.start, found.end
        if not first <= line <= last:
            continue
        row = module.lines[line - 1]
        start, end = len(row[:start].encode()), len(row[:end].encode())
        if found.type == tokenize.NAME and found.string == old and (line, start) in bare:
            changes.append((line, start, end, new))
        elif found.type == tokenize.STRING and re.match("(?i)r?f", found.string):
            text = re.sub(
                r"\{[^{}]*\}",
                lambda part: re.sub(rf"(?<![.\w\"']){old}\b(?!=[^=])", new, part[0]),
                found.string,
            )
            if text != found.string and line == end_line:
                changes.append((line, start, end, text))
    return module.splice(changes)


def rename_function(random: Random, files: Files) -> Files | None:
    """A function, in all files."""
    modules = {name: Module(files[name]) for name in _python(files)}
    stems = {name[:-3].removeprefix("tests/") for name in modules}
    nodes = [node for module in modules.values() for node in ast.walk(module.tree)]
    # called the same: other things, or strings and keywords that name it
    taken = {node.arg for node in nodes if isinstance(node, ast.arg | ast.keyword)}
    taken |= {node.value for node in nodes if isinstance(node, ast.Constant)}  # type: ignore[misc]
    taken |= {
        node.id for node in nodes if isinstance(node, ast.Name) if isinstance(node.ctx, ast.Store)
    }
    definitions = Counter(node.name for node in nodes if isinstance(node, Function))
    names = [
        node.name
        for module in modules.values()
        for node in module.tree.body
        if isinstance(node, Function)
        if definitions[node.name] == 1 and node.name not in taken and node.name != "main"
        if not node.name.startswith("test_")
    ]
    if not names:
        return None
    old = random.choice(sorted(names))
    new = f"{old}_r{random.randrange(10_000, 100_000)}"
    edited = dict(files)
    for name, module in modules.items():
        text = _rename(module, old, new)
        uses = [
            (
                node.end_lineno or 0,
                (node.end_col_offset or 0) - len(old),
                node.end_col_offset or 0,
                new,
            )
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Attribute) and node.attr == old
            if isinstance(node.value, ast.Name) and node.value.id in stems
        ]
        edited[name] = Module(text).splice(uses)
        if lint(edited[name]) - lint(module.text):
            return None
    return edited


def move_file(random: Random, files: Files) -> Files | None:
    """A module under another name, and what imports it."""
    choices = {"callbacks.py", "metrics.py", "config.py", "data.py", "model.py"} & set(files)
    if not choices:
        return None
    name = random.choice(sorted(choices))
    old = name[:-3]
    new = f"{old}_r{random.randrange(10_000, 100_000)}"
    edited = {f"{new}.py" if path == name else path: text for path, text in files.items()}
    for path in _python(edited):
        module = Module(edited[path])
        changes = []
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom) and node.module == old:
                start = node.col_offset + len("from ")
                changes.append((node.lineno, start, start + len(old), new))
            elif isinstance(node, ast.Import) and old in [alias.name for alias in node.names]:
                return None
        edited[path] = module.splice(changes)
    return edited


def reformat(random: Random, files: Files) -> Files | None:
    name, module = _pick(random, files)
    text = style(module.text, random.choice([79, 88, 120]))
    return None if text == module.text else {**files, name: text}


def reformat_all(random: Random, files: Files) -> Files | None:
    length = random.choice([79, 88, 120])
    return {
        name: style(text, length) if name.endswith(".py") else text for name, text in files.items()
    }


def single_quotes(random: Random, files: Files) -> Files | None:
    name, module = _pick(random, files)
    changes = []
    for found in tokenize.generate_tokens(io.StringIO(module.text).readline):
        (line, start), (_, end) = found.start, found.end
        inside = re.fullmatch(r'(\w*)"([^"\'\\]*)"', found.string)
        if found.type == tokenize.STRING and inside:
            row = module.lines[line - 1]
            start, end = len(row[:start].encode()), len(row[:end].encode())
            changes.append((line, start, end, f"{inside[1]}'{inside[2]}'"))
    return {**files, name: module.splice(changes)} if changes else None


def reorder(random: Random, files: Files) -> Files | None:
    """Two methods, or two functions, that follow each other."""
    name, module = _pick(random, files)
    couples = []
    for block in module.blocks:
        for one, two in pairwise(block.body):
            if block.function or not (isinstance(one, Function) and isinstance(two, Function)):
                continue
            between = module.lines[one.end_lineno or 0 : first_line(two) - 1]
            above = module.lines[first_line(one) - 2]
            if not "".join(between).strip() and not above.lstrip().startswith("#"):
                couples.append((one, two))
    if not couples:
        return None
    one, two = random.choice(couples)
    bounds = [first_line(one) - 1, one.end_lineno or 0, first_line(two) - 1, two.end_lineno or 0]
    first, gap, second = (module.lines[a:b] for a, b in pairwise(bounds))
    rows = "".join([*second, *gap, *first]).splitlines()
    return {**files, name: module.replace(bounds[0], bounds[3], rows)}


def edit_docstring(random: Random, files: Files) -> Files | None:
    name, module = _pick(random, files)
    found = [
        block.body[0]
        for block in module.blocks
        if is_docstring(block.body[0])
        and module.lines[block.body[0].lineno - 1].lstrip().startswith('"""')
    ]
    if not found:
        return None
    node, new = random.choice(found), token(random)
    start, end = node.lineno - 1, node.end_lineno or 0
    rows = [row.rstrip("\n") for row in module.lines[start:end]]
    indent = " " * node.col_offset
    if len(rows) == 1:
        row = rows[0].removesuffix('"""')
        rows = random.choice(
            [[f'{row} {new}."""'], [row, "", f"{indent}More: {new}.", f'{indent}"""']]
        )
    else:
        number = random.randrange(1, len(rows))
        rows.insert(number, f"{indent}More: {new}.")
    return {**files, name: module.replace(start, end, rows)}


def edit_readme(random: Random, files: Files) -> Files | None:
    return _edit_lines(
        random, files, "README.md", lambda new: [f"{new} was here.", f"- **{new}**: see above."]
    )


def edit_gitignore(random: Random, files: Files) -> Files | None:
    return _edit_lines(random, files, ".gitignore", lambda new: [f"{new}/"])


def edit_accelerate(random: Random, files: Files) -> Files | None:
    return _edit_lines(
        random, files, "accelerate.yaml", lambda new: [f"{new}: true", f"# {new}"], False
    )


def _edit_lines(
    random: Random, files: Files, name: str, make: Callable[[str], list[str]], change: bool = True
) -> Files | None:
    """A line more, or a line with more on it."""
    if name not in files:
        return None
    lines, new = files[name].splitlines(), token(random)
    fences = [number for number, row in enumerate(lines) if row.startswith("```")]
    free = [
        number
        for number, row in enumerate(lines)
        if not any(a <= number <= b for a, b in zip(fences[::2], fences[1::2], strict=False))
        if row and not row.startswith("|")
    ]
    number = random.choice(free)
    if change and name == "README.md" and random.random() < 0.4:
        lines[number] += f" {new}."
    else:
        lines.insert(number + random.randrange(2), random.choice(make(new)))
    return {**files, name: "".join(f"{row}\n" for row in lines)}


def add_dependency(random: Random, files: Files) -> Files | None:
    name, row = "pyproject.toml", f'    "{token(random).replace("_", "-")}>=1",'
    lines = files[name].splitlines()
    start = lines.index("dependencies = [")
    end = lines.index("]", start)
    lines.insert(random.choice([end, random.randrange(start + 1, end + 1)]), row)
    return {**files, name: "".join(f"{row}\n" for row in lines)}


EDITS: dict[str, Edit] = {
    "insert a statement": insert_statement,
    "insert a comment": insert_comment,
    "comment a line": trailing_comment,
    "add a field": add_field,
    "change a literal": change_literal,
    "change a default": change_default,
    "add a keyword": add_keyword,
    "add an import": add_import,
    "add a function": add_function,
    "add a method": add_method,
    "delete a statement": delete_statement,
    "wrap statements": wrap,
    "rename a local": rename_local,
    "rename a function": rename_function,
    "move a file": move_file,
    "reformat a file": reformat,
    "reformat all": reformat_all,
    "single quotes": single_quotes,
    "reorder": reorder,
    "edit a docstring": edit_docstring,
    "edit README.md": edit_readme,
    "edit .gitignore": edit_gitignore,
    "edit accelerate.yaml": edit_accelerate,
    "add a dependency": add_dependency,
}
# of these, a person makes more
OFTEN = {"insert a statement": 5, "change a literal": 2, "change a default": 2, "add a field": 2}
OFTEN |= {"add a keyword": 3, "wrap statements": 3, "add an import": 2, "insert a comment": 2}
OFTEN |= {"delete a statement": 2, "rename a local": 2, "comment a line": 2}
CRLF = "CRLF"


def edit(random: Random, files: Files, kind: str) -> Files | None:
    """The files after one edit of this kind, or None where it found nothing to do."""
    if kind == CRLF:
        name = random.choice(sorted(files))
        text = files[name].replace("\r\n", "\n").replace("\n", "\r\n")
        return None if text == files[name] else {**files, name: text}
    ends = {name for name, text in files.items() if "\r\n" in text}
    plain = {name: text.replace("\r\n", "\n") for name, text in files.items()}
    edited = EDITS[kind](random, plain)
    if edited is None or edited == plain:
        return None
    for name in edited:
        if name.endswith(".py") and edited[name] != plain.get(name):
            # what an edit adds is no new fault: one that is, was not made as a person makes it
            before = plain.get(name) or plain[re.sub(r"_r\d{5}", "", name)]
            if lint(edited[name]) - lint(before):
                return None
    ends |= {name for name in edited if re.sub(r"_r\d{5}", "", name) in ends}
    return {
        name: text.replace("\n", "\r\n") if name in ends else text for name, text in edited.items()
    }


def edit_randomly(
    random: Random, files: Files, number: int, near: Files | None = None
) -> tuple[Files, list[str]]:
    """The files after so many edits, and what these were.

    With `near`, each is the one of several that is nearest to where those files differ.
    """
    kinds = [*EDITS, CRLF]
    weights = [OFTEN.get(kind, 1) for kind in kinds]
    made: list[str] = []
    before = files
    while len(made) < number:
        kind = random.choices(kinds, weights)[0]
        tries = 5 if near and kind not in (CRLF, "reformat all", "rename a function") else 1
        found = [edited for _ in range(tries) if (edited := edit(random, files, kind))]
        if found:
            files = min(found, key=lambda edited: _distance(before, files, edited, near or before))
            made.append(kind)
    return files, made


def _distance(before: Files, files: Files, edited: Files, near: Files) -> int:
    """How many lines are between an edit and a difference of `before` and `near`."""
    return min(
        (
            max(one - end, start - two, 0)
            for name in edited
            if name in files and edited[name] != files[name] and name in before
            for start, end in _changed(before[name], edited[name])
            for one, two in _changed(before[name], near.get(name, ""))
        ),
        default=1000,
    )


@lru_cache(1000)
def _changed(one: str, two: str) -> tuple[tuple[int, int], ...]:
    rows = one.splitlines(), two.splitlines()
    codes = SequenceMatcher(None, *rows, autojunk=False).get_opcodes()
    return tuple((code[1], code[2]) for code in codes if code[0] != "equal")
