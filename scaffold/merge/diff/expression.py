"""Merges three versions of one statement, argument by argument.

What one side changed in a call, a list, an import or a signature is put into the owner's text, so
that the owner's layout and comments stay. Arguments are matched by name, not by position.
"""

import ast
import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, TypeGuard

from scaffold.merge.semantics.effects import shows_text
from scaffold.merge.source.imports import imports_of
from scaffold.merge.source.matcher import SequenceMatcher
from scaffold.merge.source.statement import Statement, indent_of, parse_unit, shift

LINE_LENGTH = 100
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


class Differs(Exception):
    """Both sides changed the same part."""


@dataclass(frozen=True)
class Source:
    """A statement with its text, so that parts can be cut out."""

    text: str
    tree: ast.stmt
    rows: int  # that the tree has above the text
    column: int  # and in front of its first row

    @cached_property
    def lines(self) -> list[tuple[int, str]]:
        """Each line of the text, and where it begins."""
        rows = self.text.split("\n")
        starts = itertools.accumulate((len(row) + 1 for row in rows), initial=0)
        return [*zip(starts, rows, strict=False)]

    def offset(self, line: int, column: int) -> int:
        """The place in the text, in characters, of a position in the tree (columns in bytes)."""
        row = line - 1 - self.rows
        before, text = self.lines[row]
        if row == 0:
            column -= self.column
        return before + len(text.encode()[:column].decode())

    def span(self, node: ast.AST) -> tuple[int, int]:
        place = [getattr(node, name, None) for name in _POSITIONS]
        if None in place:
            raise Differs
        start_line, start, end_line, end = place
        return self.offset(start_line, start), self.offset(end_line, end)  # type: ignore[arg-type]

    def cut(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.text[start:end]


_POSITIONS = ("lineno", "col_offset", "end_lineno", "end_col_offset")


@dataclass(frozen=True)
class Item:
    """One argument, element or name of a list."""

    name: str  # what identifies it
    says: str
    start: int  # in its text
    end: int
    node: ast.AST | None  # what can be merged further
    shape: str = ""  # of an element: its form

    def cut(self, source: Source) -> str:
        return source.text[self.start : self.end]


@dataclass(frozen=True)
class Splice:
    start: int
    end: int
    text: str


@lru_cache(maxsize=4096)
def merge_unit(base: Statement, ours: Statement, theirs: Statement) -> Statement | None:
    """The owner's unit with the other side's change. None if they can't be merged."""
    if base.is_comment or ours.is_comment or theirs.is_comment:
        return None
    if found := _merged_imports(base, ours, theirs):
        return found
    flat = [_flat_text(unit) for unit in (base, ours, theirs)]
    text = merge_text(*flat)
    if text is None:
        return None
    width = indent_of(ours.lines[0])
    if text != flat[1]:
        text = lay_out(text, width, ours)
    lines = shift(tuple(text.split("\n")), width)
    return replace(ours, lines=lines, key=f"merged {text}")


def _flat_text(unit: Statement) -> str:
    return "\n".join(unit.flat)


def _merged_imports(base: Statement, ours: Statement, theirs: Statement) -> Statement | None:
    """One side's import: the owner's of all names, or theirs if each name goes on one side."""
    old, own, new = ({row for row in imports_of(unit) if row.name} for unit in (base, ours, theirs))
    if not new or len({row.module for row in (*old, *own, *new)}) != 1:
        return None
    if any(row.name == "*" for row in own):
        return ours if all(row.is_plain for row in new) else None
    return theirs if own | new <= old and not own & new else None  # no code needs it: it goes


def merge_text(base: str, ours: str, theirs: str) -> str | None:
    """The merged statement, or None."""
    first, own, second = map(read_source, (base, ours, theirs))
    if not first or not own or not second:
        return None
    try:
        splices = list(_merge_nodes((first, own, second), (first.tree, own.tree, second.tree)))
    except Differs:
        return None
    splices.sort(key=lambda splice: (splice.start, splice.end))
    if any(one.end > two.start for one, two in itertools.pairwise(splices)):
        return None
    for splice in reversed(splices):
        ours = ours[: splice.start] + splice.text + ours[splice.end :]
    return ours if parse_unit(ours) else None


def read_source(text: str) -> Source | None:
    found = parse_unit(text)
    return found and Source(text, found[0], found[1].rows, found[1].column)


Sources = tuple[Source, Source, Source]  # base, ours, theirs, as everywhere below
Nodes = tuple[ast.AST, ast.AST, ast.AST]


def _merge_nodes(sources: Sources, nodes: Nodes) -> Iterator[Splice]:
    """What to replace in the owner's text. Raises Differs."""
    base, ours, theirs = sources
    b, m, t = nodes
    says = [ast.dump(node) for node in nodes]
    if says[2] in (says[0], says[1]):
        return
    has_place = hasattr(m, "lineno")  # the parameters of a function have none
    if says[0] == says[1] and has_place and not _comments_differ(base, ours, b, m):
        yield Splice(*ours.span(m), theirs.cut(t))
        return
    if all(isinstance(node, ast.JoinedStr) or _is_text(node) for node in nodes):
        words = merge_words(base.cut(b), ours.cut(m), theirs.cut(t))
        if words is None:
            raise Differs
        yield Splice(*ours.span(m), words)
        return
    if isinstance(m, ast.AnnAssign) and isinstance(b, ast.Assign) and isinstance(t, ast.Assign):
        targets = {ast.unparse(part) for part in (*b.targets, *t.targets)}
        if m.value is None or targets != {ast.unparse(m.target)}:
            raise Differs
        yield from _merge_nodes(sources, (b.value, m.value, t.value))  # the owner added a hint
        return
    if isinstance(b, ast.Dict) and isinstance(m, ast.Call) and isinstance(t, ast.Dict):
        calls = _as_call(base, b), ours, _as_call(theirs, t)  # the owner wrote `dict(a=1)`
        yield from _merge_nodes(calls, (_value(calls[0]), m, _value(calls[2])))
        return
    if not type(b) is type(m) is type(t):
        passed = [row for row in m.args if ast.dump(row) == says[0]] if _is_call(m) else []
        if len(passed) != 1 or says[0] in says[2]:
            raise Differs
        yield Splice(*ours.span(passed[0]), theirs.cut(t))  # the owner passes it to a function
        return
    if isinstance(b, ast.Call) and _is_another_call(b, m, t):
        if _values(b) == _values(t):  # they only named arguments of what the owner does not call
            return
        raise Differs
    is_list = _named(m) is not None
    for name in b._fields:
        if is_list and name in _LISTED:
            continue
        old, own, new = (getattr(node, name, None) for node in nodes)
        if _dump(new) in (_dump(old), _dump(own)):
            continue
        if isinstance(old, ast.AST) and isinstance(own, ast.AST) and isinstance(new, ast.AST):
            yield from _merge_nodes(sources, (old, own, new))
        elif _is_list(old) and _is_list(own) and _is_list(new) and len(old) == len(own) == len(new):
            if not all(isinstance(node, ast.AST) for node in (*old, *own, *new)):
                raise Differs
            for parts in zip(old, own, new, strict=True):
                yield from _merge_nodes(sources, parts)
        else:
            raise Differs
    if is_list:
        yield from _merge_items(sources, (_items(base, b), _items(ours, m), _items(theirs, t)))


def merge_words(base: str, ours: str, theirs: str) -> str | None:
    """The text with the changes of both sides. None if no word stands between two of them, and
    neither is a sentence more."""
    old = _WORD.findall(base)
    sides = [_changes(old, _WORD.findall(text)) for text in (ours, theirs)]
    changes = sorted({*sides[0], *sides[1]})
    for one, two in itertools.pairwise(changes):
        between = "".join(old[one[1] : two[0]])
        is_one_side = any(one in side and two in side for side in sides)
        are_apart = re.search(r"\w", between) or _is_sentence(one) != _is_sentence(two)
        if one[1] > two[0] or not (is_one_side or are_apart):
            return None
    for start, end, new in reversed(changes):
        old[start:end] = [new]
    return "".join(old)


def _changes(old: list[str], new: list[str]) -> set[tuple[int, int, str]]:
    """From where to where other words stand, and which."""
    codes = SequenceMatcher(old, new).get_opcodes()
    return {(i, j, "".join(new[x:y])) for code, i, j, x, y in codes if code != "equal"}


def _is_sentence(change: tuple[int, int, str]) -> bool:
    """Whether a change only adds a sentence, in front of another one or behind it."""
    start, end, new = change
    return start == end and bool(re.fullmatch(r"\s*[A-Z`].*[.!?]\s*", new))


def _as_call(source: Source, node: ast.Dict) -> Source:
    """`{"a": 1}` as `dict(a=1)`."""
    keys = [getattr(key, "value", None) for key in node.keys]
    if not all(isinstance(key, str) and key.isidentifier() for key in keys):
        raise Differs
    pairs = zip(keys, map(source.cut, node.values), strict=True)
    found = read_source(f"dict({', '.join(f'{key}={value}' for key, value in pairs)})")
    if found is None:
        raise Differs
    return found


def _value(source: Source) -> ast.expr:
    assert isinstance(source.tree, ast.Expr)
    return source.tree.value


def _is_call(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _comments_differ(base: Source, ours: Source, b: ast.AST, m: ast.AST) -> bool:
    """Whether the owner has other comments between the lines of a part."""
    rows = [re.findall(r"#.*", source.cut(node)) for source, node in ((base, b), (ours, m))]
    return rows[0] != rows[1]


def _is_another_call(b: ast.Call, m: ast.AST, t: ast.AST) -> bool:
    """Whether one side calls something else, and the other side's arguments are new.

    New arguments are for what was called before: `loss(x, y)` and `loss_of(x, y).mean()`.
    """
    assert isinstance(m, ast.Call) and isinstance(t, ast.Call)
    if all(map(shows_text, (b, m, t))):
        return False  # the text means the same, whichever function shows it
    for one, other in ((m, t), (t, m)):
        if _callee(one) != _callee(b) and not _fits_both(b, one, other):
            return True
    return False


def _fits_both(b: ast.Call, one: ast.Call, other: ast.Call) -> bool:
    """Whether all arguments that one side changed are also those of what the other side calls.

    A number is not: it was chosen for what was called before.
    """
    known, kept, changed = ({row.arg: row.value for row in n.keywords} for n in (b, one, other))
    if _dump(b.args) != _dump(other.args) or list(known) != list(changed):
        return False
    names = [name for name in known if _dump(known[name]) != _dump(changed[name])]
    return all(
        name in kept
        and _dump(kept[name]) == _dump(known[name])
        and not isinstance(changed[name], ast.Constant)
        for name in names
    )


def _values(node: ast.AST) -> list[str]:
    """What a function is called with, in order, whether by position or by name."""
    assert isinstance(node, ast.Call)
    words = (keyword.value for keyword in node.keywords)
    return [_callee(node), *map(ast.dump, (*node.args, *words))]


def _callee(node: ast.AST) -> str:
    """What is called, without arguments: `loss_of().mean`."""
    if isinstance(node, ast.Call):
        return f"{_callee(node.func)}()"
    if isinstance(node, ast.Attribute):
        return f"{_callee(node.value)}.{node.attr}"
    return ast.dump(node)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _dump(value: object) -> str:
    if isinstance(value, list):
        return repr([_dump(row) for row in value])
    return ast.dump(value) if isinstance(value, ast.AST) else repr(value)


# a name, the nodes that it begins and ends with, and the one that can be merged further
Named = tuple[str, ast.AST, ast.AST, ast.AST | None]
_LISTED = {"args", "keywords", "elts", "keys", "values", "names", "defaults"}  # fields with items


def _named(node: ast.AST) -> list[Named] | None:
    """The items of a node that holds a list of them, in the order of the text."""
    match node:
        case ast.Call():
            found: list[Named] = [(f"{n}", row, row, row) for n, row in enumerate(node.args)]
            for word in node.keywords:
                found.append((word.arg or f"**{ast.dump(word.value)}", word, word, word.value))
            return found
        case ast.List() | ast.Tuple() | ast.Set():
            return [(ast.dump(row), row, row, None) for row in node.elts]
        case ast.Dict():
            return [
                (ast.dump(key) if key else f"**{ast.dump(value)}", key or value, value, value)
                for key, value in zip(node.keys, node.values, strict=True)
            ]
        case ast.arguments():  # those that may be given by position, named as such arguments are
            without = [None] * (len(node.args) - len(node.defaults))
            pairs = zip(node.args, [*without, *node.defaults], strict=False)
            return [(f"0 {row.arg}", row, default or row, None) for row, default in pairs]
        case ast.Import() | ast.ImportFrom():
            return [(ast.dump(alias), alias, alias, None) for alias in node.names]
    return None


def _items(source: Source, node: ast.AST) -> list[Item]:
    found = []
    for name, first, last, inner in _named(node) or ():
        start, end = source.span(first)[0], source.span(last)[1]
        if name.startswith("**") and not source.text.startswith("**", start):
            start = source.text.rindex("**", 0, start)  # of a dict: it belongs to no node
        says, shape = f"{ast.dump(first)} {ast.dump(last)}", "" if inner else _shape(last)
        found.append(Item(name, says, start, end, inner, shape))
    return found


def _shape(node: ast.AST) -> str:
    """The form of an element: a tuple of two, a call of something, a text."""
    if isinstance(node, ast.Tuple | ast.List):
        return f"{type(node).__name__} {len(node.elts)}"
    if isinstance(node, ast.Constant):
        return type(node.value).__name__
    return ast.dump(node.func) if isinstance(node, ast.Call) else type(node).__name__


Items = tuple[Sequence[Item], Sequence[Item], Sequence[Item]]


def _merge_items(sources: Sources, items: Items) -> Iterator[Splice]:
    b, m, t = items
    if _shapes_differ(b, m, t) or _shapes_differ(b, t, m):
        raise Differs  # one side wrote all elements in another form, which the other's lack
    positional = [sum(_is_positional(item) for item in side) for side in items]
    if len(set(positional)) > 1 and positional[1] != positional[0] != positional[2]:
        b, m, t = _by_variable(b), _by_variable(m), _by_variable(t)
        if not _go_in_one_order(b, m, t):
            raise Differs
    old, own, new = map(_by_name, (b, m, t))
    if old.keys() - own.keys() - new.keys() and own.keys() - old.keys() - new.keys():
        raise Differs  # the owner may have renamed an item that the other side removes
    for name, item in new.items():
        if name in old and name in own:
            yield from _merge_item(sources, (old[name], own[name], item))
        elif name in old:  # the owner removed it
            if item.says != old[name].says:
                raise Differs
        elif name in own and item.says != own[name].says:
            raise Differs
    yield from _insert_items(sources, (b, m, t))
    for name, item in own.items():
        if name in old and name not in new:
            if item.says != old[name].says:
                raise Differs
            yield _removal(sources[1], m, item)


def _by_name(items: Sequence[Item]) -> dict[str, Item]:
    found = {item.name: item for item in items}
    if len(found) != len(items):
        raise Differs  # the same item twice: they can't be told apart
    return found


def _merge_item(sources: Sources, items: tuple[Item, Item, Item]) -> Iterator[Splice]:
    """One item that all three have."""
    before, here, item = items
    if item.says in (before.says, here.says):
        return
    if before.says == here.says:
        yield _replacement(sources, items)
    elif before.node and here.node and item.node:
        yield from _merge_nodes(sources, (before.node, here.node, item.node))
    else:
        raise Differs


def _shapes_differ(b: Sequence[Item], one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Whether one side gave all elements another form, and the other one has new ones."""
    known = {item.says for item in b}
    before, after = ({item.shape for item in items} for items in (b, one))
    brought = {item.shape for item in other if item.says not in known}
    return bool(b) and len(before) == len(after) == 1 and before != after and brought == before


def _is_positional(item: Item) -> bool:
    return item.name[:1].isdigit()


def _by_variable(items: Sequence[Item]) -> Sequence[Item]:
    """Positional arguments that are variables, identified by these, not by their places."""
    found = [
        (
            replace(item, name=f"0 {item.node.id}")
            if _is_positional(item) and isinstance(item.node, ast.Name)
            else item
        )
        for item in items
    ]
    names = {item.name for item in found}
    if len(names) < len(found) or any(name.isdigit() for name in names):
        raise Differs
    return found


def _go_in_one_order(b: Sequence[Item], m: Sequence[Item], t: Sequence[Item]) -> bool:
    """Whether no side moved a positional argument, and only one added needed ones at a place."""
    rows = [[item.name for item in items if _is_positional(item)] for items in (b, m, t)]
    shared = set(rows[0]).intersection(*rows)
    if len({tuple(name for name in row if name in shared) for row in rows}) > 1:
        return False
    places: list[set[tuple[str, bool]]] = []  # what new arguments follow, and if they are optional
    for row, items in zip(rows[1:], (m, t), strict=True):
        last = ""
        optional = {item.name: _is_optional(item) for item in items}
        followed = set()
        for name in row:
            last = name if name in shared else last
            followed |= {(last, optional[name])} if name not in rows[0] else set()
        places.append(followed)
    # parameters that have to be given come first; then the owner's, and theirs are given by name
    return all(optional for _, optional in places[0] & places[1])


def _is_optional(item: Item) -> bool:
    """Whether an item is a parameter with a default, which stands behind those without."""
    return item.node is None and _is_positional(item) and item.shape != "arg"


def _replacement(sources: Sources, items: tuple[Item, Item, Item]) -> Splice:
    """Their item in place of the owner's, with the comment behind it if that is new too."""
    _, here, item = items
    old, own, new = (_tail(*pair) for pair in zip(sources, items, strict=True))
    if new[0] == old[0] or own[0] != old[0] or not new[0]:
        return Splice(here.start, here.end, item.cut(sources[2]))
    return Splice(here.start, own[1], f"{item.cut(sources[2])},  {new[0]}")


def _tail(source: Source, item: Item) -> tuple[str, int]:
    """The comment behind an item that ends its line, and where that line ends."""
    found = re.compile(r",?[ \t]*(#[^\n]*)?(?=\n|$)").match(source.text, item.end)
    return (found[1] or "", found.end()) if found else ("", item.end)


def _insert_items(sources: Sources, items: Items) -> Iterator[Splice]:
    """Insert their new items after the items that they follow in their own text."""
    _, ours, theirs = sources
    b, m, t = items
    known, own = {item.name for item in b}, {item.name: item for item in m}
    where: dict[int, str] = {}
    for place, item in enumerate(t):
        if item.name in known or item.name in own:
            continue
        anchor = next((own[row.name] for row in reversed(t[:place]) if row.name in own), None)
        if item.name.isdigit() and not {row.name for row in m} <= known:
            raise Differs  # one more argument by position, which the owner may give by name
        text = _with_comments(theirs, t, place)
        if anchor is None and not m:
            raise Differs  # an empty list has no item to insert after
        below = next((own[row.name] for row in t[place:] if row.name in own), None)
        if anchor is None and below is not None and not below.name.isdigit():
            start = _start_with_comments(ours, below)
            where[start] = where.get(start, "") + (
                f"{text}, " if start == below.start else f"{text},\n"
            )
            continue
        is_word = "=" in text and not _is_positional(item)
        if anchor is None or (is_word and _before_keywords(anchor, m)):
            anchor = m[-1] if m else None
        assert anchor is not None
        if _is_optional(item):
            anchor = _last_new(anchor, m, known)
        comment, end = _tail(ours, anchor)
        beside = _tail(theirs, item)[0] if ours.text[end : end + 1] == "\n" else ""
        if comment or beside or _tail_is_new(theirs, t, anchor):  # on a line of its own
            row = f"{_with_comments(theirs, t, place, beside)},  {beside}" if beside else f"{text},"
            where[end] = where.get(end, "") + f"\n{row}"
            if ours.text[anchor.end : anchor.end + 1] != ",":
                where[anchor.end] = ","
        else:
            where[anchor.end] = where.get(anchor.end, "") + f", {text}"
    for end, text in where.items():
        yield Splice(end, end, text)


def _start_with_comments(source: Source, item: Item) -> int:
    """Where an item begins, or the comment lines above it."""
    found = re.search(r"(?:^[ \t]*#[^\n]*\n)+[ \t]*\Z", source.text[: item.start], re.MULTILINE)
    return found.start() if found else item.start


def _tail_is_new(theirs: Source, t: Sequence[Item], anchor: Item) -> bool:
    """Whether the other side adds a comment after an item."""
    return any(item.name == anchor.name and _tail(theirs, item)[0] for item in t)


def _last_new(anchor: Item, m: Sequence[Item], known: Collection[str]) -> Item:
    """The last of the owner's new parameters that follow the anchor."""
    for item in m[m.index(anchor) + 1 :]:
        if not _is_positional(item) or item.name in known:
            break
        anchor = item
    return anchor


def _before_keywords(anchor: Item, m: Sequence[Item]) -> bool:
    """Whether a positional argument follows the anchor, so that no keyword may."""
    return any(_is_positional(item) for item in m[m.index(anchor) + 1 :])


def _with_comments(theirs: Source, items: Sequence[Item], place: int, beside: str = "") -> str:
    """An item below the comments above it, and the one behind it if that does not stay there."""
    item = items[place]
    start = items[place - 1].end if place else 0
    above = theirs.text[start : item.start]
    comments = [row.strip() for row in above.split("\n")[1:] if row.strip().startswith("#")]
    comments += [tail] if (tail := _tail(theirs, item)[0]) != beside else []
    text = item.cut(theirs)
    return "\n" + "\n".join([*comments, text]) if comments else text


def _removal(ours: Source, m: Sequence[Item], item: Item) -> Splice:
    """Cut out an item with its comma and the comment after it, but no other comment."""
    place = m.index(item)
    if place + 1 < len(m):
        end = _tail(ours, item)[1]
        if "#" not in ours.text[end : m[place + 1].start]:
            end = m[place + 1].start
        return Splice(item.start, end, "")
    if place and "#" not in ours.text[m[place - 1].end : item.start]:
        return Splice(m[place - 1].end, item.end, "")
    comma = re.match(r"\s*,", ours.text[item.end :])
    return Splice(item.start, item.end + (comma.end() if comma else 0), "")


def lay_out(text: str, width: int, ours: Statement) -> str:
    """The statement formatted with black, if the owner's was not formatted by hand."""
    import black

    length = max([LINE_LENGTH, *(len(row) for row in ours.lines)]) - width
    found = parse_unit(text)
    if found is None or found[1].word:
        return text
    body = "\n    pass" if text.rstrip().endswith(":") else ""
    fits = "\n" in text or len(text) <= length
    if body and fits and not _is_laid_out("\n".join(ours.flat) + body, length):
        return text  # by hand
    try:
        mode = black.Mode(line_length=length, string_normalization="'" not in text)
        return black.format_str(text + body, mode=mode).rstrip("\n").removesuffix(body)
    except ValueError:  # InvalidInput: black can't read it
        return text


def _is_laid_out(text: str, length: int) -> bool:
    import black

    try:
        return black.format_str(text, mode=black.Mode(line_length=length)).rstrip("\n") == text
    except ValueError:
        return False
