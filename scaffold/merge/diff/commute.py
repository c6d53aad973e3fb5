"""Decides whether statements inserted in the same place can stand there in either order."""

import ast
import builtins
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from scaffold.merge.diff.mapping import Side, anchor
from scaffold.merge.diff.triple import Triple
from scaffold.merge.semantics.effects import (
    can_be_repeated,
    effects_of,
    outer_nodes,
    read_effects,
    root_of,
)
from scaffold.merge.semantics.flow import bound_in, read_in
from scaffold.merge.source.parse import LOOPS, last_name
from scaffold.merge.source.statement import PYTHON, Statement, Statements, parse_units
from scaffold.merge.source.training import FIXED_ATTRIBUTES, prepares, steps_schedule

_SCHEDULE = ("steps", "schedule")
# after these, other code still runs; after `raise SystemExit`, none does
_TURNS = (ast.Break, ast.Continue, ast.Return)


def can_commute(
    one: Statements,
    two: Statements,
    modules: Collection[str],
    given: Collection[str] = (),
    in_order: bool = False,
) -> bool:
    """Whether neither part can notice which of them comes first, apart from the names `given`.

    `modules` are imported names, whose methods change nothing that is named here. Below the first
    part, the second one may leave the loop or function if they are to stand `in_order`.
    """
    tree, other = parse_units(one), parse_units(two)
    if tree is None or other is None:
        return False
    first, second = (
        read_effects(part, modules, attributes=False).without(given) for part in (tree, other)
    )
    written = _written_to(tree) & _written_to(other)
    first = first.without(written | _only_asked(tree))
    second = second.without(written | _only_asked(other))
    if _sets_attributes(tree, other, given, second.changes):
        return False
    if _sets_attributes(other, tree, given, first.changes):
        return False
    for x, y in ((first, second), (second, first)):
        if x.binds & (y.binds | y.reads):
            return False
        if x.changes & (y.changes | {part.split("[")[0].split(".")[0] for part in y.parts}):
            return False
        if x.changes & y.reads - y.changes and (y.binds or y.changes):
            return False
        if x.parts & y.parts or (x.leaves and x.reads & (y.changes | y.roots)):
            return False
    if first.leaves and second.leaves:
        return False
    if (first.leaves or second.leaves) and _tests(tree) & _tests(other):
        return False  # under the same condition, only one of them leaves
    ends = ((tree, first, second), (other, second, first))
    for part, x, y in ends[:1] if in_order else ends:
        turns = any(isinstance(node, _TURNS) for node in outer_nodes(part))
        if x.leaves and turns and (y.binds or y.changes or y.parts):
            return False
    return True


def _written_to(tree: ast.Module) -> set[str]:
    """The objects to which statements only append rows of several values, as to a file of metrics:
    the order of such rows says nothing."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args[1:]]
    return _used_only(tree, (call.func for call in calls if last_name(call.func) == "append"))


def _only_asked(tree: ast.Module) -> set[str]:
    """The objects that are only asked what never changes: `accelerator.process_index`."""
    return _used_only(tree, (n for n in ast.walk(tree) if last_name(n) in FIXED_ATTRIBUTES))


def _used_only(tree: ast.Module, nodes: Iterable[ast.AST]) -> set[str]:
    """The names that are used for these attributes alone."""
    owners = [node.value for node in nodes if isinstance(node, ast.Attribute)]
    counts = Counter(owner.id for owner in owners if isinstance(owner, ast.Name))
    uses = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {name for name, count in counts.items() if count == uses[name]}


def _tests(tree: ast.Module) -> set[str]:
    return {ast.unparse(node.test) for node in tree.body if isinstance(node, ast.If)}


def _sets_attributes(
    one: ast.Module, two: ast.Module, given: Collection[str], changed: Collection[str]
) -> bool:
    """Whether one part sets an attribute that the other one reads or sets, or may do.

    An object that is read as a whole, or changed by a method, may show all its attributes.
    """
    nodes = [node for node in outer_nodes(two) if isinstance(node, ast.Attribute)]
    bases, known = {node.value for node in nodes}, {ast.unparse(node) for node in nodes}
    whole = {n.id for n in outer_nodes(two) if isinstance(n, ast.Name) and n not in bases}
    for node in outer_nodes(one):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            root = root_of(node)
            if root not in given and (ast.unparse(node) in known or root in {*whole, *changed}):
                return True
    return False


def same_purpose(unit: Statement, own: Iterable[Statement], known: Iterable[Statement]) -> bool:
    """Whether the owner already added something different for the same purpose.

    That is: something with the same name, or another call with a name as specific as
    `get_linear_schedule`. `own` are the owner's new units, `known` those of the base. A step of the
    schedule may be in any function.
    """
    purposes = frozenset() if can_be_repeated(unit) else _purposes(unit)

    def shared(row: Statement) -> frozenset[tuple[str, ...]]:
        found = purposes & _purposes(row)
        return found if row.scope == unit.scope else found & {_SCHEDULE}

    rivals = [row for row in own if shared(row)]
    for row in known if rivals else ():
        purposes = purposes - shared(row)
    rivals = [row for row in rivals if shared(row)]
    return bool(rivals) and all((row.key, row.depth) != (unit.key, unit.depth) for row in rivals)


@lru_cache(maxsize=262_144)
def _purposes(unit: Statement) -> frozenset[tuple[str, ...]]:
    purpose = anchor(unit)
    named = len(purpose) > 1 and purpose[0] not in ("Import", "ImportFrom", "Return")
    found = {purpose} if named and purpose[1] else set()
    if isinstance(unit.node, ast.Expr) and isinstance(unit.node.value, ast.Call):
        texts = [part.value for part in unit.node.value.args[:1] if isinstance(part, ast.Constant)]
        found |= {(*purpose, text) for text in texts if isinstance(text, str)}  # what it is called
    if steps_schedule(unit.text):
        found.add(_SCHEDULE)
    calls = _outer_calls(unit.node) if unit.node else ()
    names = (last_name(call.func) for call in calls if _says_what(call))
    return frozenset({*found, *(("call", name) for name in names)})


def _says_what(call: ast.Call) -> bool:
    """Whether the name of what is called is specific: of two words, or that of a compiled model."""
    name = last_name(call.func)
    two_words = "_" in name.strip("_") or re.search("[a-z][A-Z]", name)
    return bool(two_words) or (name == "compile" and root_of(call.func) != "re")


def _outer_calls(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls of a statement, without those that only make arguments for another function.

    What is built in, as float(), only looks at a result.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call):
            yield node
            if not hasattr(builtins, last_name(node.func)):
                yield from _outer_calls(ast.Expr(node.func))
                continue
        yield from _outer_calls(node)


def work_on_given(triple: Triple, gap: int, ours: Statements, theirs: Statements) -> bool:
    """Whether new lines of both sides share only what the line above them binds: a batch, say.

    The owner's come first then: they were written for what is given there. Lines that bind
    nothing, such as `break`, may stand between. Outside of a loop, their order matters where both
    bind it anew, unless one prepares it.
    """
    number = _given_by(triple, gap)
    there = None if number is None else triple.theirs.of(number)
    if number is None or there is None or there.key != triple.base[number].key:
        return False
    given = effects_of(there).binds
    in_loop = any(isinstance(triple.base[row].node, LOOPS) for row in _with_heads(triple, number))
    both_set = given & bound_in(ours) & bound_in(theirs)
    if both_set and not in_loop and not any(prepares(unit.text) for unit in [*ours, *theirs]):
        return False
    return _share_only(triple, ours, theirs, given)


def _with_heads(triple: Triple, number: int | None) -> Iterator[int]:
    """A statement of the base and the heads of the blocks around it."""
    while number is not None:
        yield number
        number = triple.parents[number]


def get_given_again(triple: Triple, gap: int, ours: Statements, theirs: Statements) -> bool:
    """Whether the other side's new lines bind what the loop above gave to the owner's.

    The owner's come last then, into the same block: `for batch in window: x, y = batch`.
    """
    number = _given_by(triple, gap)
    if number is None:
        return False
    there, given = triple.theirs.of(number), effects_of(triple.base[number]).binds
    needed = given & read_in(ours)
    if there is not None and effects_of(there).binds & needed:
        return False
    return bool(needed) and needed <= bound_in(theirs) and _share_only(triple, ours, theirs, given)


def _given_by(triple: Triple, gap: int) -> int | None:
    """The nearest line above a gap that binds names."""
    rows = range(gap - 1, -1, -1) if triple.kind == PYTHON else ()
    return next((row for row in rows if effects_of(triple.base[row]).binds), None)


def _share_only(
    triple: Triple, ours: Statements, theirs: Statements, given: Collection[str]
) -> bool:
    modules = triple.modules
    return not can_commute(ours, theirs, modules) and can_commute(ours, theirs, modules, given)


def is_set_apart(triple: Triple, scope: str, name: str) -> bool:
    """Whether a name is a value for a few lines on both sides: they only read it, below where they
    set it, in the same block, and neither sets it between these lines of the other. Functions
    inside are not looked at."""
    ours, theirs = (list(_spans(side, scope, name)) for side in (triple.ours, triple.theirs))
    return all(
        start >= 0 and not any(start <= place <= end for place, _ in others)
        for spans, others in ((ours, theirs), (theirs, ours))
        for start, end in spans
    )


def _spans(side: Side, scope: str, name: str) -> Iterator[tuple[float, float]]:
    """Where a name is set, with each line that reads it there: as units of the base, or gaps.

    It is set at -1 if a line may read what is set elsewhere, or changes it.
    """
    above: list[tuple[int, float]] = []  # where it is set, with the depth from which this is sure
    for place, unit in enumerate(side.units):
        if unit.is_comment or unit.scope != scope:
            continue
        above = [row for row in above if row[0] <= unit.depth]
        effects = effects_of(unit)
        here = side.number_of[place] if place in side.number_of else side.gap_of[place] - 0.5
        if name in effects.reads | effects.changes:
            known = above and name not in effects.changes
            yield above[-1][1] if known else -1, here
        if name in effects.binds:
            yield here, here
            above.append((unit.depth + unit.is_head, here))
