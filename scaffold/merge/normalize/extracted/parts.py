"""Finds the parts of a generated function that its owner moved into other functions or methods.

A part is a run of statements that is gone from the function, stands in a new definition, and is
called where it was. In a method, variables may be attributes: `optimizer` is `self.optimizer`.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scaffold.merge.semantics.flow import Function, bound_in, bound_names, functions
from scaffold.merge.source.matcher import pairs
from scaffold.merge.source.parse import nodes_of
from scaffold.merge.source.statement import Statement, Statements, fingerprint
from scaffold.merge.source.style import Renames, rename_units

_OTHERS = 8  # lines of a run at least, for each line that its new definition has from elsewhere
_NAMES = (ast.Name, ast.Tuple, ast.Constant)
_VARIABLES = (ast.Name, ast.Attribute)
_CALLED = re.compile(r"[\w.]+(?=\()")


@dataclass(eq=False)
class Part:
    """Where a run of statements stands in the base, and where the owner put it."""

    function: Function  # of the base, which it was taken from
    start: int  # in the base, with comments
    end: int
    target: Function  # of the owner
    inside: tuple[int, int]  # the owner's lines that are the run
    places: Mapping[int, int]  # of the owner, by number in the base
    as_generated: bool = False  # whether it has the generated names, which the owner renamed
    passed: Mapping[str, str] = field(default_factory=dict)  # parameters with other names
    results: Sequence[str] = ()  # of its end, which is `return f()` now: what it was assigned to
    calls: list[int] = field(default_factory=list)  # the owner's lines that stand for the run
    outer: "Part | None" = None  # the part that it was taken from in turn

    @property
    def is_inner(self) -> bool:
        """Whether it stands in the function that it was taken from, and sees its variables."""
        return self.target.name.startswith(f"{self.function.name}.")

    @property
    def name(self) -> str:
        """What is called."""
        *_, owner, name = f".{self.target.name}".split(".")
        return owner if name == "__init__" else name

    def is_called_in(self, text: str) -> bool:
        """Whether a statement calls it: as a function or class, or as a method."""
        method = self.target.owner and not self.target.name.endswith(".__init__")
        front = r"\." if method else r"(?<!def )(?<!class )(?<![.\w])"
        return bool(re.search(rf"{front}{self.name}\(", text))


Spans = Mapping[Part, tuple[int, int]]  # where a file has them


@dataclass(frozen=True)
class Taken:
    """A generated function, and which of its lines are no longer in it."""

    function: Function
    kept: Mapping[int, int]  # the other ones, with the owner's lines
    gone: Sequence[int]
    new: Collection[str]  # what the owner's new definitions say
    calls: Mapping[str, Sequence[Statement]]  # the owner's statements that call something, by name


def find_parts(base: Statements, ours: Statements, renamed: Statements) -> list[Part]:
    """All parts, the larger ones first. `renamed` is the base with the owner's names."""
    old, new = functions(base), functions(ours, inner=True)
    known = functions(renamed).keys()
    classes = {"", *(name.rpartition(".")[0] for name in functions(ours))}
    inner, calls = _inner_lines(new), _calls_of(ours)
    found: list[Part] = []
    for function in old.values():
        own = new.get(function.name)
        kept = {}
        if own is not None:
            lines = [number for number in own.lines if number not in inner[own.name]]
            kept = _match(renamed, ours, function, own, lines)
        gone = [n for n in function.lines if n not in kept and not base[n].is_comment]
        if not gone:
            continue
        targets = [
            target
            for target in new.values()
            if target.name not in known
            and target.name.rpartition(".")[0] in (function.name, *classes)
        ]
        held = bound_names(renamed, function)
        said = {_plain(ours[n], target, held) for target in targets for n in target.lines}
        taken = Taken(function, kept, gone, said, calls)
        parts = [
            part
            for target in targets
            if (part := _best_part((base, renamed), ours, target, taken))
            and not (own is None and _is_renamed(part, gone))
        ]
        found += _nested(ours, parts, kept, own)
    return found


def _inner_lines(new: Mapping[str, Function]) -> Mapping[str, set[int]]:
    """The lines of the functions in each function."""
    found: dict[str, set[int]] = defaultdict(set)
    for function in new.values():
        name = function.name
        while name := name.rpartition(".")[0]:
            found[name].update(range(function.head, function.end))
    return found


def _best_part(
    sides: tuple[Statements, Statements], ours: Statements, target: Function, taken: Taken
) -> Part | None:
    """The part with the owner's names, or the one as it was generated if that has more lines."""
    base, renamed = sides
    part = _find(renamed, ours, target, taken)
    other = None if renamed is base else _find(base, ours, target, taken)
    if other and (part is None or len(other.places) > len(part.places)):
        return replace(other, as_generated=True)
    return part


def _is_renamed(part: Part, gone: Sequence[int]) -> bool:
    """Whether a function has only another name: all of it stands in one that is not a method."""
    return not part.target.owner and part.start <= gone[0] and gone[-1] < part.end


def _match(
    base: Statements, ours: Statements, function: Function, target: Function, lines: Sequence[int]
) -> dict[int, int]:
    """The statements of a function that stand in another one, all as much deeper."""
    known = bound_names(base, function)
    one = [base[number].key for number in function.lines]
    two = [_plain(ours[number], target, known) for number in lines]
    first = function.head + 1
    found = {first + i: lines[j] for i, j in pairs(one, two)}
    depths = Counter(ours[place].depth - base[n].depth for n, place in found.items())
    if len(depths) < 2:
        return found
    ((change, _),) = depths.most_common(1)
    one = [f"{base[first + i].depth + change} {key}" for i, key in enumerate(one)]
    two = [f"{ours[number].depth} {key}" for number, key in zip(lines, two, strict=True)]
    return {first + i: lines[j] for i, j in pairs(one, two)}


def _returned(base: Statements, ours: Statements, target: Function, taken: Taken) -> int | None:
    """The statement of the base whose value a definition returns: `return f()` for `x = f()`."""
    last = ours[target.end - 1].node
    if not isinstance(last, ast.Return) or not last.value or isinstance(last.value, _NAMES):
        return None
    assigned = {
        number: node.value
        for number in taken.gone
        if isinstance(node := base[number].node, ast.Assign)
    }
    inside = bound_in(ours[target.head + 1 : target.end])
    value, local = _masked(last.value, inside), bound_in(base[n] for n in taken.gone)
    same = [n for n, row in assigned.items() if _masked(row, local) == value]
    called = [n for n, row in assigned.items() if _function_of(row) == _function_of(last.value)]
    is_call = isinstance(last.value, ast.Call)
    return called[0] if is_call and len(called) == 1 else same[0] if len(same) == 1 else None


def _masked(node: ast.expr, local: Collection[str]) -> str:
    """An expression without the names of local variables, which the owner may have renamed."""
    text = ast.dump(node)
    return re.sub(r"Name\(id='(\w+)'", lambda m: "_" if m[1] in local else m[0], text)


def _function_of(node: ast.expr) -> str:
    return ast.dump(node.func) if isinstance(node, ast.Call) else ""


def _calls_of(units: Statements) -> Mapping[str, Sequence[Statement]]:
    """The statements that may call something, by its name."""
    found: dict[str, list[Statement]] = defaultdict(list)
    for unit in units:
        if unit.node and not unit.is_head:
            for name in set(_CALLED.findall(unit.text)):
                found[name].append(unit)
    return found


def _passed(taken: Taken, target: Function, known: set[str]) -> dict[str, str]:
    """What a function is called with by other names than those of its parameters: variables, and
    their attributes, such as `progress.step`."""
    calls = [
        node
        for unit in taken.calls.get(target.name, ())
        if unit.node
        for node in nodes_of(unit.node)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == target.name
    ]
    pairs = zip(calls[0].args, target.parameters, strict=False) if len(calls) == 1 else ()
    named = {ast.unparse(value): name for value, name in pairs if isinstance(value, _VARIABLES)}
    return {
        old: new
        for old, new in named.items()
        if old.partition(".")[0] in known and old.count(".") < 2 and new not in known
    }


def result_of(unit: Statement) -> list[str]:
    """The names that a value is assigned to. Empty if a statement does something else."""
    node = unit.node
    if not isinstance(node, ast.Assign) or len(node.targets) > 1:
        return []
    (target,) = node.targets
    return list(map(ast.unparse, target.elts if isinstance(target, ast.Tuple) else [target]))


def _plain(unit: Statement, target: Function, known: set[str]) -> str:
    """What a statement of a method says if attributes with known names are variables."""
    if not target.owner or unit.is_comment or f"{target.owner}." not in unit.text:
        return unit.key
    pattern = rf"\b{target.owner}\.(\w+)"
    text = re.sub(pattern, lambda m: m[1] if m[1] in known else m[0], unit.text.strip())
    return fingerprint(text)


def _find(base: Statements, ours: Statements, target: Function, taken: Taken) -> Part | None:
    """The part of a function in a definition, if it has several statements that are gone."""
    function, kept = taken.function, taken.kept
    passed = _passed(taken, target, bound_names(base, function))
    if passed:
        whole = slice(function.head + 1, function.end)
        base = [*base]
        base[whole] = rename_units(base[whole], Renames(inside={function.name: passed}))
    known = bound_names(base, function)
    says = [_plain(ours[row], target, known) for row in target.lines]
    returned = _returned(base, ours, target, taken)
    if returned is not None:
        base = [*base[:returned], replace(base[returned], key=says[-1]), *base[returned + 1 :]]
    elif sum(key in {base[number].key for number in taken.gone} for key in says) < 2:
        return None
    places = _match(base, ours, function, target, target.lines)
    run = max(_runs(base, places, kept), key=len, default=[])
    if not run:
        return None
    start, end = run[0], run[-1] + 1
    level = base[start].depth
    while end < function.end and base[end].depth > level:
        end += 1
    inner = [number for number in range(start, end) if not base[number].is_comment]
    if any(base[n].depth < level or n in kept for n in inner):
        return None
    same = [number for number in run if not base[number].is_comment]
    others = [n for n in places if n not in kept and n not in run and not base[n].is_comment]
    if _OTHERS * len(others) > len(run):
        return None  # it has many lines from other places, too
    elsewhere = sum(base[n].key in taken.new for n in inner if n not in same)
    if (len(same) < 2 and same != [returned]) or 3 * len(same) < len(inner) - elsewhere:
        return None
    inside = places[run[0]], places[run[-1]] + 1
    results = result_of(base[returned]) if returned in same else ()
    if results and run[-1] != end - 1:
        return None
    found = {n: places[n] for n in run}
    return Part(function, start, end, target, inside, found, passed=passed, results=results)


def _runs(
    base: Statements, places: Mapping[int, int], kept: Mapping[int, int]
) -> Iterator[list[int]]:
    """Matched lines between which nothing is left in the function."""
    run: list[int] = []
    for number in sorted(places):
        if number in kept and not base[number].is_comment:
            continue
        if run and any(n in kept and not base[n].is_comment for n in range(run[-1], number)):
            yield run
            run = []
        if not run and base[number].is_comment and number + 1 not in places:
            continue
        run.append(number)
    yield run


def _nested(
    ours: Statements, parts: Sequence[Part], kept: Mapping[int, int], own: Function | None
) -> list[Part]:
    """The parts that are apart, or in one another, and that are called where they were."""
    found: list[Part] = []
    for part in sorted(parts, key=lambda part: part.start - part.end):
        around = [p for p in found if p.start <= part.start and part.end <= p.end]
        others = [p for p in found if p not in around]
        crossing = any(part.start < p.end and p.start < part.end for p in others)
        if crossing or any(number in around[-1].places for number in part.places if around):
            continue
        part.outer = around[-1] if around else None
        if part.outer:
            low, high = part.outer.inside
            places = part.outer.places
        else:
            low, high = (own.head + 1, own.end) if own else (0, 0)
            places = kept
        above = [place for n, place in places.items() if n < part.start]
        below = [place for n, place in places.items() if n >= part.end]
        window = range(max(above, default=low - 1) + 1, min(below, default=high))
        callers = "", part.outer.target.name if part.outer else part.function.name
        lines = [n for n in window if ours[n].scope in callers]  # not in other new functions
        part.calls = [n for n in lines if part.is_called_in(ours[n].text)]
        if len(part.calls) == 1 or (own is None and any(part.is_called_in(u.text) for u in ours)):
            found.append(part)
    return found
