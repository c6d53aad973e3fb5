"""Which file of a project an import reads."""

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from scaffold.merge.semantics.scopes import Facts, Imported, read_facts


def read_modules(files: Mapping[str, str]) -> "Modules":
    """Those files that are Python."""
    found = {path: read_facts(path, text) for path, text in files.items() if path.endswith(".py")}
    return Modules({path: facts for path, facts in found.items() if facts is not None})


@lru_cache(maxsize=1024)
def _folders(path: str) -> tuple[str, ...]:
    """The folders that a file is in, the innermost first."""
    return tuple(map(str, PurePosixPath(path).parents))


class Modules:
    """The Python files of a project, by path."""

    def __init__(self, files: Mapping[str, Facts]) -> None:
        self.files = files
        self._found: dict[tuple[str, str, int], str | None] = {}

    def find_module(self, path: str, imported: Imported) -> str | None:
        """The file that an import in the file at `path` reads. None for other packages."""
        key = (path, imported.module, imported.level)
        if key not in self._found:
            self._found[key] = next(self._find_module(*key), None)
        return self._found[key]

    def _find_module(self, path: str, module: str, level: int) -> Iterator[str]:
        above = _folders(path)
        roots = above[level - 1 : level] if level else (".", *above, "src")
        parts = module.replace(".", "/")
        for root in roots:
            place = f"{root}/{parts}".strip("/").removeprefix("./")
            for found in (f"{place}.py", f"{place}/__init__.py".removeprefix("./")):
                if found in self.files:
                    yield found
        if parts and not level:  # a folder that is made importable in another way
            ends = [name for name in self.files if name.endswith(f"/{parts}.py")]
            if len(ends) == 1:
                yield ends[0]

    def submodule(self, path: str, imported: Imported) -> str | None:
        """The file that `from package import module` reads."""
        whole = ".".join(filter(None, (imported.module, imported.name)))
        return self.find_module(path, Imported(whole, imported.level))

    def has_name(self, path: str, name: str) -> bool:
        """Whether a module has a name, or may have it."""
        return name.startswith("__") or name in self.files[path].top.names or self.is_open(path)

    def is_open(self, path: str) -> bool:
        """Whether a module may have more names than can be seen."""
        facts = self.files[path]
        if "__getattr__" in facts.top.names:
            return True
        return any(
            isinstance(node.func, ast.Name) and node.func.id in ("exec", "globals", "vars")
            for node, scope in facts.calls
            if scope is facts.top
        ) or bool(facts.stars)
