"""The rooms of `scaffold/`: which may know of which. `scaffold/README.md` shows them."""

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from support.paths import REPOSITORY, TESTS

PACKAGE = REPOSITORY / "scaffold"
# the rooms that each room may import from, from the top floor down
ARROWS = {
    "cli": {"web", "commands", "answers", "errors"},
    "web": {"commands", "render", "merge", "project", "answers", "cache", "errors"},
    "commands": {
        *("eject", "check", "render", "merge", "machine", "project", "answers", "cache", "errors"),
    },
    "eject": {"check", "render", "answers", "errors"},
    "check": {"merge", "errors"},
    "render": {"project", "answers", "cache", "errors"},
    "machine": {"answers"},
    "project": {"answers", "merge", "cache", "errors"},
    "answers": {"cache", "errors"},
    "merge": set(),
    "cache": set(),
    "errors": set(),
}


def modules() -> dict[str, Path]:
    """Each file of the package by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(REPOSITORY).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def room_of(module: str) -> str:
    return module.split(".")[1]


@cache
def imports() -> Mapping[str, set[str]]:
    """The files of the package that each file imports, also inside of functions."""
    known = modules()
    found = {}
    for module, path in known.items():
        names = {name for name in imported_names(path) if name.startswith("scaffold")}
        others = {name if name in known else name.rpartition(".")[0] for name in names}
        found[module] = others - {module}
    return found


def imported_names(path: Path) -> Iterator[str]:
    """What a file imports: `a.b` for `from a import b`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports are absolute here"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def between_rooms() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for module, others in imports().items():
        if module not in ("scaffold", "scaffold.__main__"):
            rooms = {room_of(other) for other in others if other != "scaffold"}
            found.setdefault(room_of(module), set()).update(rooms - {room_of(module)})
    return found


def floors(arrows: Mapping[str, set[str]]) -> dict[str, int]:
    """How many rooms stand below a room, one on the other."""
    floor: dict[str, int] = {}
    for name in TopologicalSorter(arrows).static_order():
        floor[name] = max((floor[other] + 1 for other in arrows[name]), default=0)
    return floor


def test_rooms_import_from_those_below_alone() -> None:
    found = between_rooms()
    assert found.keys() == ARROWS.keys()
    assert sum(map(len, found.values())) >= 15, "the imports were not read"
    for room, others in found.items():
        assert others <= ARROWS[room], f"{room} imports from {sorted(others - ARROWS[room])}"
    order = list(ARROWS)
    for room, others in ARROWS.items():
        assert others == found[room], f"{room} no longer imports from {others - found[room]}"
        assert all(order.index(other) > order.index(room) for other in others)


def test_there_are_few_rooms_and_floors() -> None:
    assert len(between_rooms()) <= 12
    assert max(floors(between_rooms()).values()) + 1 <= 8


# the rooms of the merge, from the top floor down
MERGE = ["merge", "guards", "normalize", "model", "diff", "checks", "conflicts", "semantics"]
MERGE += ["source"]


def inside(package: str) -> tuple[dict[str, set[str]], dict[str, dict[str, set[str]]]]:
    """What the rooms of a package import from each other, and the files of each room."""
    prefix = f"scaffold.{package}."
    rooms: dict[str, set[str]] = {}
    files: dict[str, dict[str, set[str]]] = {}
    for module, others in imports().items():
        if not module.startswith(prefix):
            continue
        room = module.removeprefix(prefix).split(".")[0]
        near = {other.removeprefix(prefix) for other in others if other.startswith(prefix)}
        rooms.setdefault(room, set()).update({other.split(".")[0] for other in near} - {room})
        own = {other for other in near if other.split(".")[0] == room}
        files.setdefault(room, {})[module.removeprefix(prefix)] = own
    return rooms, files


def test_rooms_of_the_merge_import_from_those_below_alone() -> None:
    rooms, files = inside("merge")
    assert rooms.keys() == set(MERGE) and sum(map(len, rooms.values())) >= 20
    for room, others in rooms.items():
        above = set(MERGE[: MERGE.index(room)])
        assert not others & above, f"{room} imports from {sorted(others & above)}"
    assert len(rooms) <= 9 and max(floors(rooms).values()) + 1 <= 7
    for room, own in files.items():
        assert max(floors(own).values()) + 1 <= 5, f"{room}: {floors(own)}"


def test_no_imports_go_round_in_a_circle() -> None:
    arrows = imports()
    assert sum(map(len, arrows.values())) >= 150, "the imports were not read"
    list(TopologicalSorter(arrows).static_order())  # raises CycleError, with the circle


def test_commands_fetch_nothing_from_each_other() -> None:
    """What two of them need is in `screen.py` or `plan.py`, or in a room below."""
    shared = {"scaffold.commands", "scaffold.commands.screen", "scaffold.commands.plan"}
    for module, others in imports().items():
        if module.startswith("scaffold.commands."):
            assert not {o for o in others if o.startswith("scaffold.commands")} - shared, module


@pytest.mark.parametrize("kind", [ast.FunctionDef, ast.ClassDef])
def test_functions_and_classes_are_short(kind: type[ast.FunctionDef | ast.ClassDef]) -> None:
    most = {ast.FunctionDef: 60, ast.ClassDef: 150}[kind]
    seen = 0
    for path in modules().values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kind):
                seen += 1
                length = (node.end_lineno or 0) - node.lineno + 1
                assert length <= most, f"{path}:{node.lineno} {node.name} has {length} lines"
    assert seen >= 40


def test_functions_of_the_merge_have_few_parameters() -> None:
    seen = 0
    for path in (PACKAGE / "merge").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                seen += 1
                names = [row.arg for row in (*node.args.args, *node.args.kwonlyargs)]
                assert len({*names} - {"self"}) <= 5, f"{path}:{node.lineno} {node.name}"
    assert seen >= 400


def test_the_tests_stand_where_what_they_test_stands() -> None:
    """In the folder of a room, or of what projects do; the page names each folder."""
    page = (TESTS / "README.md").read_text(encoding="utf-8")
    files = sorted(TESTS.rglob("test_*.py"))
    assert len(files) >= 80 and len({path.name for path in files}) == len(files)
    rooms = {room for room in ARROWS if (PACKAGE / room).is_dir()}
    folders = {path.parent.relative_to(TESTS).as_posix() for path in files}
    assert rooms <= folders, f"no tests of {rooms - folders}"
    assert folders - rooms == {"features", "hardware", "repository", "tasks", "training"}
    for folder in folders:
        assert f"| `{folder}/` |" in page, folder


def test_no_test_imports_another_one() -> None:
    """What two of them need is in `tests/support/`."""
    files = sorted(TESTS.rglob("*.py"))
    names = {path.stem for path in files if path.name.startswith(("test_", "conftest"))}
    seen = 0
    for path in files:
        for name in imported_names(path):
            seen += name.startswith("support.")
            assert not names & {*name.split(".")}, f"{path} imports {name}"
    assert seen >= 200


def test_tests_are_collected_without_torch(pytestconfig: pytest.Config) -> None:
    """Each worker would import it before its first test, also those that never train."""
    conftest = pytestconfig.pluginmanager.get_plugin(str(TESTS / "conftest.py"))
    assert conftest is not None and conftest.imported_early == set()


def test_no_helper_of_the_tests_stands_twice() -> None:
    """The same code in two files, under any name: but for a single statement in two of them."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("*.py")):
        names = path.relative_to(TESTS).as_posix()
        apart = names.startswith(("support/drivers/", "benchmarks/", "corpus/stand_ins/"))
        for node in [] if apart else ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("test_"):
                found.setdefault(bare_code(node), []).append(f"{names}: {node.name}")
    assert len(found) >= 500
    twice = [
        places
        for code, places in found.items()
        if len(places) > 2 or (len(places) > 1 and code.count("\n") > 2)
    ]
    assert twice == []


def bare_code(node: ast.FunctionDef) -> str:
    """A function without its name, its docstring, its decorators and its types."""
    bare = ast.parse(ast.unparse(node)).body[0]
    assert isinstance(bare, ast.FunctionDef)
    if ast.get_docstring(bare) is not None and len(bare.body) > 1:
        del bare.body[0]
    bare.name, bare.decorator_list, bare.returns = "_", [], None
    for inner in ast.walk(bare):
        if isinstance(inner, ast.arg):
            inner.annotation = None
    return ast.unparse(bare)


def test_packages_are_empty_so_that_nothing_is_imported_by_the_way() -> None:
    inits = [path for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE]
    assert len(inits) >= 6
    assert all(path.read_text() == "" for path in inits)


def test_the_page_shows_each_room() -> None:
    page = (PACKAGE / "README.md").read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 40
    for room in ARROWS:
        name = room if (PACKAGE / room).is_dir() else f"{room}.py"
        assert f"`{name}{'/' if name == room else ''}`" in page, room
    of_merge = (PACKAGE / "merge" / "README.md").read_text(encoding="utf-8")
    assert len(of_merge.splitlines()) <= 40
    for path in modules().values():
        if path.name != "__init__.py" and path.parent != PACKAGE:
            here = of_merge if PACKAGE / "merge" in path.parents else page
            assert f"`{path.stem}`" in here, f"{path} is not on the page"


PURE = """
import builtins, io, os, pathlib, shutil, subprocess, sys, tempfile
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.merge.merge import merge_files
from scaffold.project.pristine import Pristine
from scaffold.render.project import render_project
import black, yaml, pyflakes.checker  # what is loaded on the way

def refuse(what):
    def refused(*given, **settings):
        raise AssertionError(f"{what} {given}")
    return refused

def only_read(file, mode="r", *rest, **settings):
    assert not set(mode) & set("wax+"), f"open({file}, {mode})"
    return really_open(file, mode, *rest, **settings)

def only_read_os(path, flags, *rest, **settings):
    assert not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT), f"os.open({path})"
    return really_open_os(path, flags, *rest, **settings)

catalog = load_catalog()  # its manifests are kept
really_open, builtins.open = open, only_read
really_open_os, os.open = os.open, only_read_os
io.open = only_read
for module, names in (
    (os, "mkdir makedirs remove unlink rename replace rmdir link symlink truncate write"),
    (shutil, "copy copy2 copyfile copytree move rmtree"),
    (tempfile, "mkstemp mkdtemp NamedTemporaryFile TemporaryDirectory"),
    (subprocess, "run Popen"),
):
    for name in names.split():
        setattr(module, name, refuse(name))
sys.stdout = sys.stderr = None  # no screen either

given = {"project.name": "net"}
one = resolve(catalog, given)
two = resolve(catalog, {**given, "features.ema.enabled": True, "hardware.mixed_precision": "bf16"})
before, after = render_project(catalog, one), render_project(catalog, two)
LOSS = "RunningLoss(accelerator)"
mine = {**before, "train.py": before["train.py"].replace(LOSS, f"{LOSS}  # mine")}
assert mine != before != after
merged = merge_files(Pristine("0", one, before), mine, after, "a cause")
clash = merge_files(
    Pristine("0", two, after), {**after, "train.py": "print('mine')\\n"}, before, "a cause"
)
sys.stdout = sys.__stdout__
assert not merged.conflicts and "# mine" in merged.files["train.py"]
assert "ema" in merged.files["train.py"] and clash.conflicts
print("pure", flush=True)
"""


def test_rendering_and_merging_write_nothing() -> None:
    result = subprocess.run([sys.executable, "-c", PURE], capture_output=True, text=True)
    assert result.stdout == "pure\n", result.stderr
