"""Random edits meet random changes of answers: no edit is lost, and nothing is merged wrong.

The judge knows nothing of how files are merged. It compares four states of a project: as it was
generated (base), as its owner edited it (mine), as it is generated with other answers (theirs),
and the result. What each side added, changed, moved and dropped must be in the result, in the same
function, in the same block and in the same order, or in a conflict.
"""

import ast
import io
import re
import tokenize
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path
from random import Random

import pytest
import yaml

from scaffold import __version__
from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.merge.merge import merge_files
from scaffold.project.pristine import Pristine
from support.combinations import BESIDE, as_many_as_possible, fitting, given_for, in_turns, ways
from support.command_line import run_cli
from support.edits import EDITS, edit, edit_randomly, first_line, is_docstring, lint, style
from support.files import read_files, write_files
from support.rendering import render
from support.training import start

Proven = Callable[[str, int], None]
Given = Mapping[str, Value]
LABEL = "the new answers"
TOKEN = r"edit[_-]\d{5}"
MARKERS = ("<<<<<<< yours", "||||||| previously generated", "=======", f">>>>>>> {LABEL}")

# -- the judge ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unit:
    """A statement, the head of a compound one, a comment, a line of a docstring or of a text."""

    kind: str
    scope: str  # the qualified name of the function or class around it
    text: str
    chain: tuple[str, ...]  # the heads of the blocks around it in that scope, outermost first
    block: tuple[int, ...]  # the same for the units of one block of a file
    on: str = ""  # of a comment: the statement that it stands on, or in

    @property
    def key(self) -> tuple[str, str, str]:
        return self.kind, self.scope, self.text


def original(text: str) -> str:
    """The text with the names as they were before its owner changed them."""
    return re.sub(r"\b(\w+?)(?:_r\d{5})+\b", r"\1", text)


class Reader(ast.NodeVisitor):
    """Collects the units of a file in the order of their lines."""

    def __init__(self, text: str) -> None:
        self.found: list[tuple[int, int, Unit]] = []
        self.statements: list[tuple[int, int, int, Unit]] = []
        self.rows = text.split("\n")
        self.read_body(ast.parse(text).body, "", (), (0,))
        self.read_comments(text)

    def read_body(
        self, body: Sequence[ast.stmt], scope: str, chain: tuple[str, ...], block: tuple[int, ...]
    ) -> None:
        for number, node in enumerate(body):
            line, inner = first_line(node), (*block, number)
            if is_docstring(node):
                assert isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
                for offset, row in enumerate(str(node.value.value).splitlines()):
                    if row.strip():
                        unit = Unit("docstring", scope, row.strip(), chain, inner)
                        self.found.append((line + offset, node.col_offset, unit))
                continue
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    row = ast.unparse(_with_names(node, [alias]))
                    self.add(node, Unit("import", scope, row, chain, block))
                continue
            self.add(node, Unit("statement", scope, _head(node), chain, block))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.read_body(node.body, f"{scope}.{node.name}".strip("."), (), (*inner, 0))
                continue
            for place, name in enumerate(("body", "orelse", "finalbody")):
                if rows := getattr(node, name, None):
                    head = _head(node) if name == "body" else f"{name} of {_head(node)}"
                    self.read_body(rows, scope, (*chain, head), (*inner, place))
            for place, handler in enumerate(getattr(node, "handlers", ())):
                head = f"except {ast.unparse(handler.type) if handler.type else ''}"
                self.read_body(handler.body, scope, (*chain, head), (*inner, 3 + place))

    def add(self, node: ast.stmt, unit: Unit) -> None:
        end = node.end_lineno or 0
        if body := getattr(node, "body", None):  # only the head
            inner = body[0].lineno
            rows = [getattr(row, "end_lineno", 0) for row in ast.walk(node)]
            end = max(row for row in [node.lineno, *rows] if row < inner or row == node.lineno)
            while end + 1 < inner and self.rows[end].lstrip().startswith(")"):
                end += 1  # the bracket that black closes on a line of its own
        self.found.append((first_line(node), node.col_offset, unit))
        self.statements.append((first_line(node), end, node.col_offset, unit))

    def read_comments(self, text: str) -> None:
        statements = sorted(self.statements, key=lambda row: row[:3])
        for found in tokenize.generate_tokens(io.StringIO(text).readline):
            if found.type != tokenize.COMMENT:
                continue
            (line, column), words = found.start, found.string.lstrip("#").strip()
            inside = [row for row in statements if row[0] <= line <= max(row[1], row[0])]
            below = [row for row in statements if row[0] > line][:1]
            above = [row for row in statements if row[0] < line and row[2] == column][-1:]
            if inside and (found.line[:column].strip() or inside[-1][0] < line):
                near = inside[-1]
                if near[1] >= line:
                    unit = Unit(
                        "comment", near[3].scope, words, near[3].chain, near[3].block, near[3].text
                    )
                    self.found.append((line, column, unit))
                    continue
            rows = [row for row in below if row[2] == column] or above or below
            beside = rows[0][3] if rows else Unit("", "", "", (), ())
            unit = Unit("comment", beside.scope, words, beside.chain, beside.block)
            self.found.append((line, column, unit))


def _with_names(
    node: ast.Import | ast.ImportFrom, names: list[ast.alias]
) -> ast.Import | ast.ImportFrom:
    if isinstance(node, ast.Import):
        return ast.Import(names)
    return ast.ImportFrom(node.module, names, node.level)


def _head(node: ast.stmt) -> str:
    """A simple statement, or the head of a compound one."""
    if isinstance(node, ast.Try):
        return "try"
    if not hasattr(node, "body"):
        return ast.unparse(node)
    fields = {name: getattr(node, name, None) for name in node._fields}
    fields |= {"body": [ast.Pass()]} | ({"orelse": []} if "orelse" in fields else {})
    head = type(node)(**fields)
    return ast.unparse(ast.fix_missing_locations(head)).removesuffix("pass").rstrip()


@lru_cache(1000)
def units(name: str, text: str) -> tuple[Unit, ...]:
    """The units of a file, under its original names."""
    text = original(text.replace("\r\n", "\n"))
    if not name.endswith(".py"):
        rows = [row.strip() for row in text.splitlines()]
        return tuple(Unit("line", "", row, (), ()) for row in rows if row)
    return tuple(row[2] for row in sorted(Reader(text).found, key=lambda row: row[:2]))


def words(row: Iterator[Unit] | Sequence[Unit]) -> Counter[tuple[str, str]]:
    """How often each word is in each function. Commas come and go with arguments."""
    return Counter(
        (unit.scope, word)
        for unit in row
        if unit.kind != "import"
        for word in re.findall(r"\w+|[^\w\s,]", unit.text)
    )


def once(row: Sequence[Unit]) -> dict[tuple[str, str, str], int]:
    """The places of the units that are there only once."""
    counted = Counter(unit.key for unit in row)
    return {unit.key: place for place, unit in enumerate(row) if counted[unit.key] == 1}


def judge_file(name: str, base: str, mine: str, theirs: str, result: str) -> list[str]:
    """What is wrong with a file that was merged without a conflict."""
    try:
        found = units(name, result)
    except (SyntaxError, tokenize.TokenError) as error:
        return [f"syntax: {error}"]
    if name.endswith((".toml", ".yaml")):
        try:
            (tomllib.loads if name.endswith(".toml") else yaml.safe_load)(result)
        except (tomllib.TOMLDecodeError, yaml.YAMLError) as error:
            return [f"syntax: {error}"]
    b, m, t, r = units(name, base), units(name, mine), units(name, theirs), found
    faults = [
        *_counted(b, m, t, r),
        *_there(b, m, t, r),
        *_in_order(m, t, r),
        *_in_place(b, m, t, r),
    ]
    tokens = Counter(re.findall(TOKEN, mine)), Counter(re.findall(TOKEN, result))
    if tokens[0] != tokens[1]:
        faults.append(f"token: {tokens[0] - tokens[1]} lost, {tokens[1] - tokens[0]} more often")
    if name.endswith(".py"):
        faults += _imported(b, m, t, r, result)
        faults += [f"lint: {row}" for row in lint(result) - lint(mine) - lint(theirs)]
    mixed = result.count("\r\n") not in (0, result.count("\n"))
    if mixed or ("\r\n" in result) != ("\r\n" in mine):
        faults.append("newlines: not those of the owner")
    return faults


def _counted(
    b: Sequence[Unit], m: Sequence[Unit], t: Sequence[Unit], r: Sequence[Unit]
) -> Iterator[str]:
    """Each side's words are there, and no others: what both dropped, or added, counts once."""
    expected = words(m)
    expected.update(words(t))
    expected.subtract(words(b))
    counts = [Counter(unit.key for unit in row) for row in (b, m, t)]
    dropped = (counts[0] - counts[1]) & (counts[0] - counts[2])
    added = (counts[1] - counts[0]) & (counts[2] - counts[0])
    for key, number in dropped.items():
        near = [
            other
            for side in (1, 2)
            for other in counts[side] - counts[0]
            if other[:2] == key[:2] and SequenceMatcher(None, other[2], key[2]).ratio() > 0.6
        ]
        if not near:  # dropped, not changed
            for word, times in words([Unit(*key, (), ())]).items():
                expected[word] += times * number
    for key, number in added.items():
        for word, times in words([Unit(*key, (), ())]).items():
            expected[word] -= times * number
    actual = words(r)
    for word in sorted({*expected, *actual}):
        if expected[word] != actual[word]:
            what = f"{word[1]!r} in {word[0] or 'the module'}"
            yield f"words: {what}: {actual[word]}, not {expected[word]}"


def _there(
    b: Sequence[Unit], m: Sequence[Unit], t: Sequence[Unit], r: Sequence[Unit]
) -> Iterator[str]:
    """What one side has and base has not is in the result, what one side dropped is not."""
    before, result = Counter(unit.key for unit in b), Counter(unit.key for unit in r)
    sides = {"yours": Counter(u.key for u in m), "theirs": Counter(u.key for u in t)}
    for side, other in (("yours", "theirs"), ("theirs", "yours")):
        for key in sides[side] - before:
            missing = key[0] != "import" and result[key] < 1
            # both changed it: neither's is there, and its words have been counted
            if missing and not _both_changed(key, before, sides[side], sides[other], result):
                yield f"missing: {side}: {key[2]!r} in {key[1] or 'the module'}"
        for key in before - sides[side]:
            back = key[0] != "import" and result[key] > sides[side][key]
            if back and sides[other][key] <= before[key]:
                yield f"back again: dropped by {side}: {key[2]!r} in {key[1] or 'the module'}"
    if any(marker(unit.text) is not None for unit in r):
        yield "a marker of a conflict that is not reported"


def _both_changed(
    key: tuple[str, str, str],
    before: Counter[tuple[str, str, str]],
    side: Counter[tuple[str, str, str]],
    other: Counter[tuple[str, str, str]],
    result: Counter[tuple[str, str, str]],
) -> bool:
    """Whether a unit was merged with another change of it, word by word."""

    def like(one: str, two: str) -> bool:
        return SequenceMatcher(None, one, two).ratio() > 0.5

    merged = [k for k in result - before - side - other if k[:2] == key[:2] and like(k[2], key[2])]
    there = [k for k in other - before if k[:2] == key[:2] and like(k[2], key[2])]
    was = [k for k in before - side - other if k[:2] == key[:2] and like(k[2], key[2])]
    return bool(merged and there and was)


def _in_order(m: Sequence[Unit], t: Sequence[Unit], r: Sequence[Unit]) -> Iterator[str]:
    """The units of each function are in the order that they have on both sides."""
    places = once(r)
    for side, row, other in (("yours", m, once(t)), ("theirs", t, once(m))):
        alone = once(row)
        last: dict[str, Unit] = {}
        for unit in row:
            if unit.key not in places or unit.key not in alone or unit.kind == "import":
                continue
            before = last.get(unit.scope)
            last[unit.scope] = unit
            if before is None or places[before.key] < places[unit.key]:
                continue
            if before.key in other and unit.key in other and other[before.key] > other[unit.key]:
                continue  # the other side changed the order
            if (
                side == "theirs"
                and {before.kind, unit.kind} == {"statement"}
                and _moved(before, unit, once(m))
            ):
                continue
            yield f"order: {side}: {before.text!r} is no longer before {unit.text!r}"


def _moved(one: Unit, two: Unit, mine: Mapping[tuple[str, str, str], int]) -> bool:
    """Whether either is a function that its owner has moved: one that is new has no place there."""
    heads = [unit for unit in (one, two) if unit.text.startswith(("def ", "class ", "@"))]
    return len(heads) == 2 and not (one.key in mine and two.key in mine)


def _in_place(
    b: Sequence[Unit], m: Sequence[Unit], t: Sequence[Unit], r: Sequence[Unit]
) -> Iterator[str]:
    """Each unit is in the block of what it was beside, in what either side has put around it."""
    sides = [once(row) for row in (b, m, t, r)]
    rows = (b, m, t, r)
    heads = [{unit.text for unit in row} for row in rows]
    for key, place in sides[3].items():
        unit = r[place]
        there = [key in side for side in sides]
        if unit.kind == "import":
            continue
        if all(there):
            chains = [Counter(row[side[key]].chain) for row, side in zip(rows, sides, strict=True)]
            expected = chains[1].copy()
            expected.update(chains[2])
            expected.subtract(chains[0])
            # a head that both changed is merged, and judged where it stands
            merged = [head for head in chains[3] if head not in heads[1] | heads[2]]
            differ = any(expected[head] != chains[3][head] for head in {*expected, *chains[3]})
            both = any(number < 0 for number in expected.values())
            if differ and not merged and not both:
                yield f"block: {unit.text!r} is in {unit.chain}"
            attached = {row[side[key]].on for row, side in zip(rows[:3], sides, strict=False)}
            if (
                unit.kind == "comment"
                and unit.on
                and unit.on not in attached
                and unit.on in heads[0]
            ):
                yield f"comment: {unit.text!r} stands on {unit.on!r}"
            continue
        for number in (1, 2):
            if not there[number] or there[0] or there[3 - number]:
                continue
            side, row = sides[number], rows[number]
            beside = [
                other
                for other in row
                if other.block == row[side[key]].block
                and other.key != key
                and all(other.key in known for known in sides)
                and other.kind == "statement"
            ]
            before = [other for other in beside if side[other.key] < side[key]][-1:]
            behind = [other for other in beside if side[other.key] > side[key]][:1]
            near = {r[sides[3][other.key]].chain for other in (*before, *behind)}
            # what it was before its change, the other side may have put into a block of its own
            changed = any(
                SequenceMatcher(None, other.text, unit.text).ratio() > 0.6
                for other in rows[3 - number]
                if other.key[:2] == key[:2] and other.key in sides[0] and other.key not in side
                if _moved_chain(other.key, 3 - number, sides, rows)
            )
            own = heads[3 - number] - heads[0] if changed else set()
            chain = tuple(head for head in unit.chain if head not in own)
            # beside something that the other side wrapped alone, both places are right
            free = len({*before, *behind}) == 1 and any(
                _moved_chain(other.key, 3 - number, sides, rows) for other in (*before, *behind)
            )
            if near and not {chain, unit.chain} & near and not free:
                yield f"block: {unit.text!r} is in {unit.chain}, not where {near} is"
            below = row[side[key] + 1] if side[key] + 1 < len(row) else unit
            if (
                unit.kind == "comment"
                and not unit.on
                and below.kind == "statement"
                and (below.scope, below.chain) == (unit.scope, row[side[key]].chain)
                and below.key in sides[3]
                and not _moved_chain(below.key, 3 - number, sides, rows)
                and unit.chain != r[sides[3][below.key]].chain[: len(unit.chain)]
            ):
                yield f"block: {unit.text!r} is no longer in the block of {below.text!r}"
            on = row[side[key]].on
            other = on and unit.on != on and unit.on in heads[0]
            if unit.kind == "comment" and (other or bool(on) != bool(unit.on)):
                yield f"comment: {unit.text!r} stands on {unit.on!r}, not on {on!r}"


def _moved_chain(
    key: tuple[str, str, str],
    number: int,
    sides: Sequence[Mapping[tuple[str, str, str], int]],
    rows: Sequence[Sequence[Unit]],
) -> bool:
    """Whether one side has something else around a unit than base."""
    if key not in sides[0] or key not in sides[number]:
        return key in sides[number]
    return rows[0][sides[0][key]].chain != rows[number][sides[number][key]].chain


def _imported(
    b: Sequence[Unit], m: Sequence[Unit], t: Sequence[Unit], r: Sequence[Unit], result: str
) -> Iterator[str]:
    """What either side imports is imported once; what one side dropped, only where it is used."""
    one, two, three, four = (
        Counter((unit.scope, unit.text) for unit in row if unit.kind == "import")
        for row in (b, m, t, r)
    )
    for scope, row in sorted({*one, *two, *three, *four}):
        key = scope, row
        number = four[key]
        kept = (two[key] or three[key]) and (not one[key] or (two[key] and three[key]))
        bound = row.split()[-1].split(".")[0]
        used = len(re.findall(rf"\b{bound}\b", original(result))) > number
        # each side may have left a use of it that the other has dropped
        if number > 1 or (bool(number) != used and (kept or number)):
            yield f"import: {row!r} is there {number} times"


def only_laid_out(base: str, mine: str) -> bool:
    """Whether an edit leaves what a file says, in code and in comments."""
    try:
        one, two = (ast.dump(ast.parse(text)) for text in (base, mine))
    except SyntaxError:
        return False
    return one == two and re.findall(r"#.*", base) == re.findall(r"#.*", mine)


def judge(
    base: Mapping[str, str],
    mine: Mapping[str, str],
    theirs: Mapping[str, str],
    files: Mapping[str, str | None],
    conflicts: Mapping[str, Sequence[int]],
    kinds: Sequence[str] = (),
) -> list[str]:
    """What is wrong with a result: for each fault its kind, a colon, and where it is."""
    result = {**mine, **files}
    faults = []
    now = {original(path): path for path in mine}
    for path in sorted({*base, *theirs, *now}):
        place = now.get(path, path)
        b, m, t = base.get(path), mine.get(place), theirs.get(path)
        r = result.get(place)
        if place in conflicts:
            found = judge_conflicts(path, b, m, t, r, conflicts[place])
        elif m == b or t == b:
            wanted = t if m == b else m
            same = (original(text) if text is not None else None for text in (r, wanted))
            # what is generated is laid out as its owner laid out all other files
            like_others = (
                m == b and "reformat all" in kinds and r and only_laid_out(wanted or "", r)
            )
            found = [] if len({*same}) == 1 or like_others else _first_difference(r, wanted)
            if r is not None and path.endswith(".py") and not found:
                found = [f"lint: {row}" for row in lint(r) - lint(wanted or "")]
        elif m is None or b is None or t is None or r is None:
            goes = r == m == t or (r is t is None and b and m and only_laid_out(b, m))
            found = [] if goes else ["deleted: one side's change, without a conflict"]
        else:
            found = judge_file(path, b, m, t, r)
        faults += [f"{path}: {fault}" for fault in found]
    whole = {path: text for path, text in result.items() if text is not None}
    if not conflicts and not faults:
        faults += sorted(set(_links(whole)) - set(_links(mine)) - set(_links(theirs)))
        faults += _renamed(base, mine, whole)
        faults += _styled(mine, whole, kinds)
    return faults


def _first_difference(result: str | None, wanted: str | None) -> list[str]:
    if result is None or wanted is None:
        return [f"text: only one side has changed it, and the result is {str(result)[:30]!r}"]
    rows = zip(result.splitlines(True), wanted.splitlines(True), strict=False)
    one, two = next((pair for pair in rows if pair[0] != pair[1]), ("(length)", "(length)"))
    return [f"text: only one side has changed it, and the result has {one!r}, not {two!r}"]


@dataclass(frozen=True)
class Names:
    """What a module has at its top level, takes from others, and calls something."""

    has: frozenset[str]
    fields: frozenset[str]  # of Config
    takes: tuple[tuple[str, str], ...]  # from a module, a name, or "" for the module itself
    settings: frozenset[str]  # what it reads from `config`
    inside: Mapping[str, frozenset[str]]  # by function: the names in it


@lru_cache(1000)
def names(text: str) -> Names:
    has: set[str] = set()
    fields: set[str] = set()
    takes: list[tuple[str, str]] = []
    settings: set[str] = set()
    inside: dict[str, frozenset[str]] = {}
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "Config":
            rows = [row.target for row in node.body if isinstance(row, ast.AnnAssign)]
            fields |= {row.id for row in rows if isinstance(row, ast.Name)}
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            has.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            has |= {alias.asname or alias.name for alias in node.names}
        else:
            has |= {row.id for row in ast.walk(node) if isinstance(row, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            takes += [(node.module or "", alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            takes += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == "config":
                settings.add(node.attr)
        elif isinstance(node, ast.FunctionDef):
            rows = [row.id for row in ast.walk(node) if isinstance(row, ast.Name)]
            inside[original(node.name)] = inside.get(original(node.name), frozenset()) | set(rows)
    return Names(frozenset(has), frozenset(fields), tuple(takes), frozenset(settings), inside)


def _links(files: Mapping[str, str]) -> Iterator[str]:
    """What modules of the project take from each other, and do not have; the fields of Config."""
    known = {
        path[:-3].removeprefix("tests/"): names(text)
        for path, text in files.items()
        if path.endswith(".py")
    }
    fields = frozenset().union(*(row.fields for row in known.values()))
    for path, row in known.items():
        for module, name in row.takes:
            if module not in known:
                if {f"{module}.py", f"tests/{module}.py"} & ALL_FILES:
                    yield f"{path}.py: link: there is no module {module}"
            elif name and name not in known[module].has:
                yield f"{path}.py: link: {module} has no {name}"
        for name in row.settings - fields:
            yield f"{path}.py: link: Config has no {name}"


def _renamed(
    base: Mapping[str, str], mine: Mapping[str, str], result: Mapping[str, str]
) -> Iterator[str]:
    """A name that its owner changed everywhere in a function, or a project, is not left there."""
    if not any(re.search(r"_r\d{5}\b", text) for text in mine.values()):
        return

    def inside(files: Mapping[str, str]) -> dict[tuple[str, str], frozenset[str]]:
        return {
            (original(path), function): found
            for path, text in files.items()
            if path.endswith(".py")
            for function, found in names(text).inside.items()
        }

    before, yours, now = inside(base), inside(mine), inside(result)
    for key in now:
        for new in yours.get(key, frozenset()):
            old = original(new)
            if new != old and old not in yours[key] and old in now[key]:
                yield f"{key[0]}: rename: {old} is {new} in {key[1]}, and is back"
    everywhere = frozenset().union(*yours.values())
    for new in {name for text in mine.values() for name in re.findall(r"def (\w+_r\d{5})\b", text)}:
        old = original(new)
        uses = [key for key in now if old in now[key] and old in before.get(key, {old})]
        if old not in everywhere and uses:
            yield f"{uses[0][0]}: rename: {old} is {new}, and is back"


def _styled(
    mine: Mapping[str, str], result: Mapping[str, str], kinds: Sequence[str]
) -> Iterator[str]:
    """A file that its owner had formatted is formatted so."""
    if not {"reformat a file", "reformat all", "single quotes"} & set(kinds):
        return
    own = [text.replace("\r\n", "\n") for path, text in mine.items() if path.endswith(".py")]
    # a file without long lines fits several: it is to have that of the others
    lengths = sorted(
        (100, 79, 88, 120), key=lambda length: -sum(style(text, length) == text for text in own)
    )
    for path, text in result.items():
        if not path.endswith(".py") or path not in mine or text == mine[path]:
            continue
        text, before = text.replace("\r\n", "\n"), mine[path].replace("\r\n", "\n")
        for length in lengths:
            for quotes in (True, False):
                if style(before, length, quotes) == before:
                    if style(text, length, quotes) != text:
                        yield f"{path}: style: black -l {length} of its owner is lost"
                    return


def judge_conflicts(
    path: str,
    b: str | None,
    m: str | None,
    t: str | None,
    r: str | None,
    lines: Sequence[int],
) -> list[str]:
    """What is wrong with a file that has conflicts: taking one side must leave that side whole."""
    if r is None:
        return ["conflict: and the file is gone"]
    rows = r.replace("\r\n", "\n").splitlines()
    starts = [number for number, row in enumerate(rows, 1) if marker(row) == 0]
    if m is None:
        return []
    if not starts:
        # nothing to show beside it: the file is as its owner left it, or as it is generated
        if r in (m, t) and re.findall(TOKEN, m) == re.findall(TOKEN, r):
            return []
        return ["conflict: without a marker, and the file is changed"]
    faults = []
    if starts != sorted(lines):
        faults.append(f"conflict: reported at {sorted(lines)}, the markers are at {starts}")
    shape = [number for row in rows if (number := marker(row)) is not None]
    if shape != [0, 1, 2, 3] * len(starts):
        return [*faults, f"conflict: markers {shape}"]
    yours, new = take(r, 0), take(r, 2)
    lost = Counter(re.findall(TOKEN, m)) - Counter(re.findall(TOKEN, yours))
    if lost:
        faults.append(f"conflict: loses {lost}")
    for side, text, was in (("yours", yours, m), ("theirs", new, t)):
        if was is None or b is None:
            continue
        try:
            here = Counter(unit.key for unit in units(path, text))
        except (SyntaxError, tokenize.TokenError) as error:
            faults.append(f"conflict: with {side} it does not parse: {error}")
            continue
        before = Counter(unit.key for unit in units(path, b))
        own = Counter(unit.key for unit in units(path, was))
        other = Counter(unit.key for unit in units(path, (t if side == "yours" else m) or ""))
        for key in own - here:
            merged = [
                k
                for k in here - own - before
                if k[0] == key[0] and SequenceMatcher(None, k[2], key[2]).ratio() > 0.5
            ]
            # what the other side dropped or changed may go, what only this side has may not
            if key[0] != "import" and other[key] >= before[key] and not merged:
                faults.append(f"conflict: with {side} it lacks {key[2]!r} in {key[1]}")
    return faults


def marker(row: str) -> int | None:
    """The number of a marker: behind the label of the last one its reason may stand."""
    if row.startswith(f"{MARKERS[3]} ("):
        return 3
    return MARKERS.index(row) if row in MARKERS else None


def take(text: str, side: int) -> str:
    """The text with one side of each conflict: 0 yours, 1 base, 2 theirs."""
    kept, now = [], -1
    for row in text.replace("\r\n", "\n").splitlines(keepends=True):
        number = marker(row.rstrip("\n"))
        if number is not None:
            now = -1 if number == 3 else number
        elif now in (-1, side):
            kept.append(row)
    return "".join(kept)


# -- the cases ------------------------------------------------------------------------------------

CATALOG = load_catalog()
ALL = given_for(CATALOG, as_many_as_possible(CATALOG))
SETS: dict[str, Given] = {"default": {}, "none": given_for(CATALOG, []), "all": ALL}


def _changes() -> dict[str, tuple[Given, Given]]:
    """Answers before and after: each feature turned on and off, alone and among all, hardware."""
    default = resolve(CATALOG, {"project.name": "example"})
    found: dict[str, tuple[Given, Given]] = {
        "default -> none": (SETS["default"], SETS["none"]),
        "default -> all": (SETS["default"], ALL),
        "all -> default": (ALL, SETS["default"]),
    }
    for feature in fitting(CATALOG, "image_classification"):
        for way in ways(CATALOG, feature):
            toggled = dict(BESIDE.get(str(way), ())) | dict(way.given)
            if all(default[key] == value for key, value in toggled.items()):
                toggled = {way.given[0][0]: feature.off}
            if feature.requires and not feature.default:
                others = [CATALOG.features[name] for name in feature.requires]
                toggled |= {other.switch_key: other.example for other in others}
            label = ", ".join(
                f"{key.removeprefix('features.')}={value}" for key, value in toggled.items()
            )
            found[label] = ({}, toggled)
            found[f"not {label}"] = (toggled, {})
    found["none -> ema"] = (
        SETS["none"],
        given_for(CATALOG, [ways(CATALOG, CATALOG.features["ema"])[0]]),
    )
    without = {**ALL, "training.gradient_accumulation_steps": 1}
    found["all, not accumulation"] = (ALL, without)
    found["all, accumulation"] = (without, ALL)
    found["4 processes"] = (
        {},
        {"hardware.distributed_type": "MULTI_GPU", "hardware.num_processes": 4},
    )
    found["2 on the CPU"] = ({}, {"hardware.distributed_type": "MULTI_CPU"})
    found["other numbers"] = (
        {},
        {"training.epochs": 7, "training.learning_rate": 0.01, "training.batch_size": 8},
    )
    return found


CHANGES = _changes()
# rendered once each, in the fast tier
QUICK = [
    "default -> none",
    "default -> all",
    "all -> default",
    "augmentation.enabled=True, augmentation.kind=shift",
    "best_model.enabled=True",
    "clipping.enabled=False",
    "checkpoints.enabled=False",
    "early_stopping.enabled=True",
    "not early_stopping.enabled=True",
    "ema.enabled=True",
    "not ema.enabled=True",
    "training.gradient_accumulation_steps=4",
    "not training.gradient_accumulation_steps=4",
    "hardware.mixed_precision=bf16",
    "not hardware.mixed_precision=bf16",
    "not preemption.enabled=True, checkpoints.enabled=True",
    "not stop_on_nan.enabled=True",
    "tracker.enabled=True, tracker.kind=wandb",
    "4 processes",
    "other numbers",
]
ALL_FILES = {path for given in SETS.values() for path in render(given)}


def pristine(given: Given, mine: Mapping[str, str]) -> Pristine:
    """What was generated, and where its owner has moved it."""
    answers = resolve(CATALOG, {"project.name": "example", **given})
    moved = {original(path): path for path in mine if original(path) != path}
    return Pristine(__version__, answers, dict(render(given)), moved)


@dataclass
class Case:
    """One project, edited, and updated to other answers."""

    seed: int
    change: str
    kinds: list[str]
    clean: bool
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"seed {self.seed}, {' + '.join(self.kinds)}, {self.change}: {self.faults}"


def merge(
    before: Given, mine: Mapping[str, str], after: Given
) -> tuple[dict[str, str | None], dict[str, list[int]]]:
    """The merged files, and the lines of the conflicts in them."""
    merged = merge_files(pristine(before, mine), mine, render(after), LABEL)
    lines: dict[str, list[int]] = {}
    for conflict in merged.conflicts:
        lines.setdefault(conflict.path, []).append(conflict.line)
    return dict(merged.files), lines


def mine_of(seed: int, change: str, number: int) -> tuple[dict[str, str], list[str]]:
    """The project as its owner has edited it: for every second thousand near what will change."""
    before, after = (dict(render(given)) for given in CHANGES[change])
    return edit_randomly(Random(seed), before, number, after if is_near(seed) else None)


def is_near(seed: int) -> bool:
    return seed // 1000 % 2 == 1


def run_case(seed: int, change: str, number: int) -> Case:
    before, after = CHANGES[change]
    mine, kinds = mine_of(seed, change, number)
    try:
        files, conflicts = merge(before, mine, after)
    except Exception as error:
        return Case(seed, change, kinds, False, [f"raised: {type(error).__name__}: {error}"])
    try:
        faults = judge(render(before), mine, render(after), files, conflicts, kinds)
    except Exception as error:
        return Case(seed, change, kinds, False, [f"judge: {type(error).__name__}: {error}"])
    if not conflicts and not faults:
        again = {path: text for path, text in {**mine, **files}.items() if text is not None}
        twice, clashes = merge(after, again, after)
        if (
            clashes
            or {path: text for path, text in {**again, **twice}.items() if text is not None}
            != again
        ):
            faults = ["twice: a second update changes what the first has written"]
    return Case(seed, change, kinds, not conflicts, faults)


def cases(first: int, count: int, number: int, changes: Sequence[str]) -> Iterator[Case]:
    for seed in range(first, first + count):
        yield run_case(seed, changes[seed % len(changes)], number)


def _some(arguments: tuple[int, int, int, Sequence[str]]) -> list[Case]:
    return list(cases(*arguments))


def table(found: Sequence[Case], title: str, key: Callable[[Case], Sequence[str]]) -> str:
    rows = [f"{title:44} cases  clean  conflict  wrong"]
    for name in sorted({name for case in found for name in key(case)}):
        these = [case for case in found if name in key(case)]
        clean = sum(case.clean and not case.faults for case in these)
        wrong = sum(bool(case.faults) for case in these)
        rows.append(f"{name:44} {len(these):5} {clean:6} {len(these) - clean - wrong:9} {wrong:6}")
    return "\n".join(rows)


def report(found: Sequence[Case]) -> str:
    wrong = [str(case) for case in found if case.faults]
    tables = [
        table(found, "all", lambda case: ["near" if is_near(case.seed) else "anywhere"]),
        table(found, "by edit", lambda case: sorted(set(case.kinds))),
        table(found, "by change", lambda case: [case.change]),
    ]
    return "\n\n".join([*tables, *wrong])


def rate(found: Sequence[Case]) -> float:
    return sum(case.clean and not case.faults for case in found) / len(found)


# -- the tests ------------------------------------------------------------------------------------


def test_random_edits(proven: Proven) -> None:
    found = [*cases(0, 2, 1, QUICK), *cases(10_000, 1, 3, QUICK)]
    assert not [case for case in found if case.faults], report(found)
    proven("random edits merged", len(found))


@pytest.mark.sweep
@pytest.mark.parametrize(("number", "count", "least"), [(1, 4000, 0.95), (3, 2000, 0.85)])
def test_many_random_edits(
    number: int, count: int, least: float, proven: Proven, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither wrong nor, more often than that, a conflict."""
    size = 100
    parts = [(100_000 * number + at, size, number, list(CHANGES)) for at in range(0, count, size)]
    with ProcessPoolExecutor(2) as pool:
        found = [case for part in pool.map(_some, parts) for case in part]
    with capsys.disabled():
        print(f"\n{number} edit(s)\n{report(found)}")
    proven(f"projects with {number} random edit(s) merged", len(found))
    assert not [case for case in found if case.faults]
    assert rate(found) >= least


@pytest.mark.parametrize("change", in_turns(QUICK, 8))
def test_there_and_back(change: str) -> None:
    _there_and_back(change)


@pytest.mark.sweep
@pytest.mark.parametrize("change", [change for change in CHANGES if change not in QUICK])
def test_there_and_back_everywhere(change: str) -> None:
    _there_and_back(change)


def _there_and_back(change: str) -> None:
    """An untouched project becomes what is generated, byte for byte; other changes leave edits."""
    before, after = CHANGES[change]
    files, conflicts = merge(before, render(before), after)
    there = {path: text for path, text in files.items() if text is not None}
    assert not conflicts
    assert there == dict(render(after))
    files, conflicts = merge(after, there, before)
    assert not conflicts
    assert {path: text for path, text in files.items() if text is not None} == dict(render(before))


def test_the_same_answers_leave_every_edit() -> None:
    for seed, kind in enumerate([*EDITS, "CRLF"]):
        mine = edit(Random(seed), dict(render({})), kind)
        if mine is not None:
            files, conflicts = merge({}, mine, {})
            assert not conflicts, kind
            whole = {path: text for path, text in {**mine, **files}.items() if text is not None}
            assert whole == mine, kind


def test_undo_restores_every_byte(tmp_path: Path) -> None:
    changes = [("features.ema", "true"), ("hardware.mixed_precision", "bf16")]
    for seed, (key, value) in enumerate(changes):
        project = tmp_path / f"project{seed}"
        assert run_cli("new", project, "--yes", cwd=tmp_path).returncode == 0
        files = {path: text.decode() for path, text in read_files(project).items()}
        own = {path: text for path, text in files.items() if not path.startswith(".scaffold")}
        edited, _ = edit_randomly(Random(seed), own, 3)
        for path in own.keys() - edited.keys():
            (project / path).unlink()
        write_files(project, edited)
        before = read_files(project)
        updated = run_cli("update", project, "--set", f"{key}={value}", cwd=tmp_path)
        assert updated.returncode in (0, 1), updated.stderr
        after = read_files(project)
        assert after["scaffold.toml"] != before["scaffold.toml"]
        undone = run_cli("undo", project, cwd=tmp_path)
        assert undone.returncode == 0, undone.stderr
        restored = read_files(project)
        assert {path: restored.get(path) for path in before} == before
        left = [
            path for path in restored.keys() - before.keys() if not path.startswith(".scaffold")
        ]
        assert not left


# edits that a run can bear: the others may, as for their owner, change what it does
HARMLESS = ["insert a statement", "insert a comment", "add a field", "add an import"]
HARMLESS += ["add a function", "wrap statements", "rename a local", "rename a function"]
HARMLESS += ["move a file", "reformat all", "reorder", "edit a docstring", "CRLF"]


@pytest.mark.train
@pytest.mark.parametrize(
    "change",
    [
        "ema.enabled=True",
        pytest.param("training.gradient_accumulation_steps=4", marks=pytest.mark.sweep),
        pytest.param("early_stopping.enabled=True", marks=pytest.mark.sweep),
    ],
)
def test_merged_projects_train(change: str, tmp_path: Path) -> None:
    """The first seeds whose three edits merge without a conflict, and trained before."""
    before, after = CHANGES[change]
    for seed in range(40):
        random, mine, made = Random(seed), dict(render(before)), 0
        while made < 3:
            edited = edit(random, mine, random.choice(HARMLESS))
            made += edited is not None
            mine = edited or mine
        files, conflicts = merge(before, mine, after)
        if conflicts or not _trains(write_files(tmp_path / f"mine{seed}", mine)):
            continue
        whole = {path: text for path, text in {**mine, **files}.items() if text is not None}
        assert not judge(render(before), mine, render(after), files, conflicts)
        assert _trains(write_files(tmp_path / "merged", whole)), f"seed {seed}"
        return
    pytest.fail("no seed merges without a conflict and trains")


def _trains(project: Path) -> bool:
    result = start(project, ["train.py", "--epochs", "1", "--limit-batches", "2"], 1)
    return result.returncode == 0 and (project / "runs/latest/model.safetensors").is_file()


# -- the judge is judged --------------------------------------------------------------------------

MINE = "            loss = compute_loss(model(images), labels).mean()\n"
OWN = '            print("edit_12345")\n'
CLEAR = "            optimizer.zero_grad()\n"


def _owned() -> tuple[dict[str, str], dict[str, str], dict[str, str], dict[str, str | None]]:
    """An edit beside the line that EMA adds, merged by hand."""
    base, theirs = dict(render({})), dict(render({"features.ema.enabled": True}))
    text = base["train.py"]
    assert text.count(MINE) == 1
    mine = {**base, "train.py": text.replace(MINE, MINE + OWN)}
    merged = {**theirs, "train.py": theirs["train.py"].replace(MINE, MINE + OWN)}
    return base, mine, theirs, dict(merged)


def test_judge_accepts_what_is_right() -> None:
    assert judge(*_owned(), {}) == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (OWN, "", "token"),
        (OWN, OWN + OWN, "token"),
        ("            ema.update()\n", "", "missing"),
        ("            ema.update()\n", "            ema.update()\n" * 2, "words"),
        ("        # the data order depends only on the seed and the epoch\n", "", "words"),
        (OWN, OWN.replace("            ", "        ", 1), "syntax"),
        (MINE + OWN, OWN + MINE, "order"),
        (MINE + OWN, MINE + "            if ema:\n    " + OWN, "words"),
        (
            "            optimizer.step()\n" + CLEAR + "            ema.update()\n",
            "            ema.update()\n            optimizer.step()\n" + CLEAR,
            "order",
        ),
        (
            "            batches = accelerator.skip_first_batches(train_loader, progress.batch)\n",
            "",
            "syntax",
        ),
        ("    ema = Ema(", "    ema = Ema(0, ", "words"),
        ("import torch\n", "", "import"),
        ("from data import build_loaders\n", "from data import build_loaders\n" * 2, "import"),
        ("  # max_steps ends the epoch early", "", "words"),
        ("int(config.warmup_ratio", "int(2 * config.warmup_ratio", "words"),
        (
            '                bar.set_postfix(loss=values["loss"])\n',
            '            bar.set_postfix(loss=values["loss"])\n',
            "block",
        ),
    ],
)
def test_judge_names_what_is_wrong(old: str, new: str, says: str) -> None:
    base, mine, theirs, merged = _owned()
    text = str(merged["train.py"])
    assert text.count(old) >= 1, "the example has moved"
    faults = judge(base, mine, theirs, {**merged, "train.py": text.replace(old, new, 1)}, {})
    assert any(fault.startswith(f"train.py: {says}") for fault in faults), faults


def test_judge_sees_the_wrong_function() -> None:
    base, mine, theirs, merged = _owned()
    text = str(merged["train.py"]).replace(OWN, "", 1)
    where = "        losses = compute_loss(logits, labels)\n"
    assert text.count(where) == 1
    text = text.replace(where, where + OWN[4:])
    faults = judge(base, mine, theirs, {**merged, "train.py": text}, {})
    assert any("in evaluate" in fault for fault in faults), faults


def test_judge_sees_what_is_lost_in_a_conflict() -> None:
    base, mine, theirs, merged = _owned()
    rows = [MARKERS[0], MARKERS[1], MARKERS[2], "            pass", MARKERS[3]]
    text = str(merged["train.py"]).replace(OWN, "".join(f"{row}\n" for row in rows), 1)
    line = text.splitlines().index(MARKERS[0]) + 1
    faults = judge(base, mine, theirs, {**merged, "train.py": text}, {"train.py": [line]})
    assert any("loses" in fault for fault in faults), faults
    rows[1:1] = [OWN.rstrip("\n")]
    text = str(merged["train.py"]).replace(OWN, "".join(f"{row}\n" for row in rows), 1)
    assert not judge(base, mine, theirs, {**merged, "train.py": text}, {"train.py": [line]})
    assert judge(base, mine, theirs, {**merged, "train.py": text}, {"train.py": [1]})


SLOW = "reformat all"  # takes as long as all others
KINDS = [*EDITS, "CRLF"]


@pytest.mark.every_run
@pytest.mark.parametrize(
    "kinds",
    [
        pytest.param([kind for kind in KINDS if kind != SLOW][::2], id="some"),
        pytest.param(KINDS, id="all", marks=pytest.mark.sweep),
    ],
)
def test_every_edit_is_made(kinds: list[str]) -> None:
    """Each finds something to do in some file, leaves Python that parses, and adds no fault.

    In every run half of them.
    """
    assert len(kinds) >= 12
    files = dict(render(ALL))
    for kind in kinds:
        made = [edited for seed in range(2) if (edited := edit(Random(seed), files, kind))]
        assert made, kind
