"""Edits that move code: into functions, classes and files. They read the code, so that they can be
made to any render."""

import ast
import io
import itertools
import re
import textwrap
import tokenize

from corpus.edit import TRAIN, Apply, CannotEdit, Files, Place, find, places, rows, span, splice
from support.canonical import blackened


def formatted(*paths: str, length: int = 100) -> Apply:
    """Black with another line length, in these files or in all."""

    def apply(files: Files) -> None:
        for path in paths or [path for path in files if path.endswith(".py")]:
            # a trailing comma that black left would keep its lines apart in a longer line too
            files[path] = blackened(files[path], length, length < 100)

    return apply


def main_of(text: str) -> ast.FunctionDef:
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == "main":
            return node
    raise CannotEdit("there is no main()")


def names_of(node: ast.AST, context: type[ast.expr_context]) -> list[str]:
    """The names that are read or written in a part of a file, in order, each once."""
    found = [
        (child.lineno, child.col_offset, child.id)
        for child in ast.walk(node)
        if isinstance(child, ast.Name) and isinstance(child.ctx, context)
    ]
    if context is ast.Load:  # x += 1 reads x, too
        found += [
            (child.lineno, child.col_offset, child.target.id)
            for child in ast.walk(node)
            if isinstance(child, ast.AugAssign) and isinstance(child.target, ast.Name)
        ]
    return list(dict.fromkeys(name for _, _, name in sorted(found)))


def extract(name: str, first: str, last: str, doc: str) -> Apply:
    """The statements of main() from one to another become a function, called where they were."""

    def apply(files: Files) -> None:
        text = files[TRAIN]
        outer = main_of(text)
        start, end, margin = span(text, first, last, "main")
        moved = text.splitlines()[start:end]
        block = ast.parse(textwrap.dedent("\n".join(moved)))
        if _leaves(block):
            raise CannotEdit(f"{name}: the statements end a loop")
        before = [node for node in ast.walk(outer) if getattr(node, "lineno", 0) <= start]
        behind = [node for node in ast.walk(outer) if getattr(node, "lineno", 0) > end]
        bound = {argument.arg for argument in outer.args.args}
        bound |= {node.id for node in before if _is_stored(node)} - _of_comprehensions(before)
        given = [word for word in names_of(block, ast.Load) if word in bound]
        later = {n.id for n in behind if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        passing = _of_comprehensions(list(ast.walk(block)))
        returned = [word for word in names_of(block, ast.Store) if word in later - passing]
        call = f"{name}({', '.join(given)})"
        call = f"{', '.join(returned)} = {call}" if returned else call
        body = rows("\n".join(moved), "    ")
        if returned:
            body.append(f"    return {', '.join(returned)}")
        new = [f"def {name}({', '.join(given)}):", f'    """{doc}"""', *body, "", ""]
        text = splice(text, start, end, [margin + call])
        (place,) = find(text, r"def main\(", "")
        files[TRAIN] = blackened(splice(text, place.start, place.start, new))

    return apply


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _of_comprehensions(nodes: list[ast.AST]) -> set[str]:
    """The names that exist inside of a comprehension alone."""
    targets = [node.target for node in nodes if isinstance(node, ast.comprehension)]
    return {child.id for target in targets for child in ast.walk(target) if _is_stored(child)}


def _leaves(block: ast.Module) -> bool:
    """Whether there is a `break`, `continue` or `return` that belongs to what is around."""

    def visit(node: ast.AST, inside: bool) -> bool:
        if isinstance(node, ast.Break | ast.Continue) and not inside:
            return True
        if isinstance(node, ast.Return):
            return True
        inside = inside or isinstance(node, ast.For | ast.While)
        return any(visit(child, inside) for child in ast.iter_child_nodes(node))

    return visit(block, False)


def move(names: tuple[str, ...], target: str, doc: str) -> Apply:
    """Definitions go into another file with all that they need, and are imported from there."""

    def apply(files: Files) -> None:
        if target in files:
            raise CannotEdit(f"{target} is there")
        text = files[TRAIN]
        top = [place for place in places(text) if not place.function and not place.margin]
        known = {word: place for place in top for word in _defined(place)}
        if missing := set(names) - known.keys():
            raise CannotEdit(f"{missing} is not defined")
        wanted, queue = set(), list(names)
        while queue:
            word = queue.pop()
            if word not in wanted:
                wanted.add(word)
                queue += [other for other in names_of(known[word].node, ast.Load) if other in known]
        moved = [place for place in top if wanted & set(_defined(place))]
        lines = text.splitlines()
        body = "\n\n\n".join("\n".join(lines[place.start : place.end]) for place in moved)
        for place in reversed(moved):
            end = place.end
            while end < len(lines) and not lines[end]:
                end += 1
            del lines[place.start : end]
        module = target.removesuffix(".py").replace("/", ".")
        left = "\n".join(lines) + "\n"
        kept = [word for word in sorted(wanted) if re.search(rf"\b{word}\b", left)]
        imports = [place for place in top if isinstance(place.node, ast.Import | ast.ImportFrom)]
        last = [place for place in places(left) if not place.function]
        at = max(p.end for p in last if isinstance(p.node, ast.Import | ast.ImportFrom))
        left = splice(left, at, at, [f"from {module} import {', '.join(kept)}"])
        head = "\n".join("\n".join(text.splitlines()[p.start : p.end]) for p in imports)
        whole = f'"""{doc}"""\n\n{head}\n\n\n{body}\n'
        files[TRAIN], files[target] = blackened(_used(left)), blackened(_used(whole))

    return apply


def _defined(place: Place) -> list[str]:
    node = place.node
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def _used(text: str) -> str:
    """The text without the imports of names that it does not use."""
    tree = ast.parse(text)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in reversed(tree.body):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        names = [a for a in node.names if (a.asname or a.name).split(".")[0] in used]
        if len(names) < len(node.names):
            new = []
            if names:
                copy: ast.stmt = ast.Import(names)
                if isinstance(node, ast.ImportFrom):
                    copy = ast.ImportFrom(node.module, names, node.level)
                new = [ast.unparse(copy)]
            text = splice(text, node.lineno - 1, node.end_lineno or 0, new)
    return text


def without_unused_imports(path: str) -> Apply:
    def apply(files: Files) -> None:
        files[path] = blackened(_used(files[path]))

    return apply


def rename(old: str, new: str, *paths: str, function: str = "") -> Apply:
    """A name in code, also inside of f-strings, but not after a dot or as a keyword of a call."""

    def apply(files: Files) -> None:
        made = 0
        for path in paths or (TRAIN,):
            text = files[path]
            start, end = 0, len(text.splitlines())
            if function:
                (place,) = find(text, rf"(def|class) {function}\b", "")
                start, end = place.start, place.end
            renamed = rename_in(text, {old: new}, start, end)
            made += renamed != text
            files[path] = blackened(renamed)
        if not made:
            raise CannotEdit(f"there is no {old}")
        notebook = files.get("train.ipynb", "")
        if not function and re.search(rf"from train import .*\b{old}\b", notebook):
            files["train.ipynb"] = re.sub(rf"\b{old}\b", new, notebook)

    return apply


def rename_in(text: str, names: dict[str, str], start: int, end: int) -> str:
    """The text with other names in the lines from `start`, counted from 0, up to `end`."""
    lines = text.splitlines(keepends=True)
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    changes, depth = [], 0
    for number, token in enumerate(tokens):
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        row = token.start[0] - 1
        if not start <= row < end:
            continue
        if token.type == tokenize.NAME and token.string in names:
            argument = depth and tokens[number + 1].string == "="
            if tokens[number - 1].string != "." and not argument:
                changes.append((token, names[token.string]))
        elif token.type == tokenize.STRING and re.match("(?i)r?f", token.string):

            def inside(match: re.Match[str]) -> str:
                return re.sub(r"(?<![.\w\"'])([a-zA-Z_]\w*)", _word, match[0])

            def _word(match: re.Match[str]) -> str:
                return names.get(match[0], match[0])

            changes.append((token, re.sub(r"\{[^{}]*\}", inside, token.string)))
    for token, new in reversed(changes):
        (row, left), (last, right) = token.start, token.end
        if row == last:
            lines[row - 1] = lines[row - 1][:left] + new + lines[row - 1][right:]
    return "".join(lines)


def one_import_a_line(files: Files) -> None:
    """Each name has an import of its own."""
    text = files[TRAIN]
    made = 0
    for node in reversed(ast.parse(text).body):
        if isinstance(node, ast.ImportFrom) and len(node.names) > 1:
            names = [f"{a.name} as {a.asname}" if a.asname else a.name for a in node.names]
            new = [f"from {node.module} import {name}" for name in names]
            text = splice(text, node.lineno - 1, node.end_lineno or 0, new)
            made += 1
    if not made:
        raise CannotEdit("no import has two names")
    files[TRAIN] = text


def move_below(pattern: str, other: str) -> Apply:
    """A function of train.py moves below another one."""

    def apply(files: Files) -> None:
        (place,) = find(files[TRAIN], pattern, "")
        lines = files[TRAIN].splitlines()[place.start : place.end]
        text = splice(files[TRAIN], place.start, place.end + 2, [])
        (above,) = find(text, other, "")
        files[TRAIN] = splice(text, above.end, above.end, ["", "", *lines])

    return apply


def behind_epochs(new: str) -> Apply:
    """Lines between the loop over epochs and what follows."""

    def apply(files: Files) -> None:
        main = main_of(files[TRAIN])
        for node, following in itertools.pairwise(main.body):
            if isinstance(node, ast.For | ast.While) and "epoch" in ast.unparse(node).split(":")[0]:
                at = _start(files[TRAIN].splitlines(), following.lineno - 1)
                files[TRAIN] = splice(files[TRAIN], at, at, rows(new, "    "))
                return
        raise CannotEdit("there is no loop over epochs")

    return apply


def around_epochs(head: str, tail: str = "") -> Apply:
    """The loop over epochs goes into a block, with lines behind it."""

    def apply(files: Files) -> None:
        behind_epochs("#: here")(files)
        start, end, margin = span(files[TRAIN], r"for epoch in", r"for epoch in", "main")
        lines = files[TRAIN].splitlines()
        at = lines.index("    #: here")
        inside = [f"    {row}" if row else "" for row in lines[start:end]]
        lines[start : at + 1] = [*rows(head, margin), *inside, *rows(tail, margin)]
        files[TRAIN] = "\n".join(lines) + "\n"

    return apply


_RESULT = "dict[str, float]"  # what main returns


def trainer_class(name: str = "Trainer", setup: str = "__init__", fit: str = "fit") -> Apply:
    """main() becomes a class: what is built is kept in self, the loop and the end are methods."""

    def apply(files: Files) -> None:
        text = files[TRAIN]
        main = main_of(text)
        loops = [n for n, node in enumerate(main.body) if isinstance(node, ast.For)]
        loops = [n for n in loops if ast.unparse(main.body[n].target) == "epoch"]
        if len(loops) != 1:
            raise CannotEdit("there is no loop over epochs")
        at = loops[0]
        lines = text.splitlines()
        kept: set[str] = set()
        for node in main.body[:at]:
            kept |= set(names_of(node, ast.Store))
        kept -= _of_comprehensions([c for node in main.body[:at] for c in ast.walk(node)])
        loop, behind = main.body[at], main.body[at + 1]
        parts = [
            (setup, main.body[0].lineno - 1, _start(lines, loop.lineno - 1)),
            (fit, _start(lines, loop.lineno - 1), _start(lines, behind.lineno - 1)),
            ("finish", _start(lines, behind.lineno - 1), main.end_lineno or 0),
        ]
        end = main.end_lineno or 0
        names = {word: f"self.{word}" for word in [*sorted(kept), "config"]}
        renamed = rename_in(text, names, main.body[0].lineno - 1, end).splitlines()
        new = [f"class {name}:"]
        for method, first, last in parts:
            given = "self, config: Config" if method == setup else "self"
            result = _RESULT if method == "finish" else "None"
            new.append(f"    def {method}({given}) -> {result}:")
            if method == setup:
                new.append("        self.config = config")
            new += [f"    {row}" if row else "" for row in renamed[first:last]]
            while not new[-1].strip():
                new.pop()
            new.append("")
        create = f"    trainer = {name}(config)"
        if setup != "__init__":
            create = f"    trainer = {name}()\n    trainer.{setup}(config)"
        new += ["", f"def main(config: Config) -> {_RESULT}:", *create.split("\n")]
        new += [f"    trainer.{fit}()", "    return trainer.finish()"]
        files[TRAIN] = blackened(splice(text, main.lineno - 1, end, new))

    return apply


def _start(lines: list[str], number: int) -> int:
    """The first of the comments above a line."""
    while lines[number - 1].strip().startswith("#"):
        number -= 1
    return number


def split_method(name: str, first: str, last: str, method: str, given: str) -> Apply:
    """Statements of a method of Trainer become a method of their own."""

    def apply(files: Files) -> None:
        text = files[TRAIN]
        start, end, margin = span(text, first, last, f"Trainer.{method}")
        moved = text.splitlines()[start:end]
        block = ast.parse(textwrap.dedent("\n".join(moved)))
        if _leaves(block):
            raise CannotEdit(f"{name}: the statements end a loop")
        head = f"    def {name}(self, {given}):"
        text = splice(text, start, end, [f"{margin}self.{name}({given})"])
        (place,) = find(text, rf"def {method}\(", "Trainer")
        body = rows("\n".join(moved), "        ")
        files[TRAIN] = blackened(splice(text, place.end, place.end, ["", head, *body, ""]))

    return apply
