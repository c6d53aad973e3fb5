"""`scaffold web --export FOLDER`: the page as static files, with the generator in it.

Pyodide (Python as WebAssembly) runs the same code as the command line, in a worker of the page.
`generator.zip` holds scaffold, the templates, the pure Python files of what it needs, and a cache
with what the likeliest answers render.
"""

import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from importlib import metadata, resources
from pathlib import Path
from typing import Any

from scaffold.answers.catalog import Catalog
from scaffold.answers.manifests import load_catalog, template_root
from scaffold.answers.resolve import Answers, resolve
from scaffold.cache import FOLDER as CACHE
from scaffold.cache import remember
from scaffold.errors import AnswerError, ScaffoldError
from scaffold.project.origin import find_origin
from scaffold.render.project import render_project
from scaffold.web.docs import Docs
from scaffold.web.page import NAME, Page

PYODIDE = "314.0.7"
PARTS = (
    *("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json"),
    "python_stdlib.zip",
)
PACKAGES = (
    *("black", "click", "jinja2", "markupsafe", "mypy_extensions", "packaging", "pathspec"),
    *("platformdirs", "pyflakes", "pytokens", "pyyaml", "tomlkit"),
)
ROOMS = ("answers", "project", "render", "web")  # those that a new project needs
MARK = "<!--prepared-->"  # of index.html


def export_page(folder: Path, pyodide: Path | None, app: Any) -> None:
    """Write the page to a new or empty folder. Raises ScaffoldError."""
    folder = folder.expanduser().absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ScaffoldError(f"{folder} is not empty: choose another folder for the export.")
    catalog = load_catalog()
    with tempfile.TemporaryDirectory() as scratch:
        runtime = _find_pyodide(pyodide, Path(scratch))
        try:
            (folder / "pyodide").mkdir(parents=True)
            for name in PARTS:
                shutil.copyfile(runtime / name, folder / "pyodide" / name)
            _write_static(folder, catalog)
            _write_generator(folder / "generator.zip", Path(scratch) / "cache")
            for name, content in Docs(catalog, app).pages():
                path = folder / "docs" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        except OSError as error:
            raise ScaffoldError(f"{folder}: {error.strerror}.") from None
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(
        f"Wrote {folder}: {size / 1e6:.1f} MB. Any web server can serve it, such as\n"
        f"  python -m http.server --directory {folder}"
    )


def _find_pyodide(given: Path | None, scratch: Path) -> Path:
    """The folder with the files of Pyodide. Raises ScaffoldError."""
    advice = (
        f"Get it with `npm install pyodide@{PYODIDE}`, and give --pyodide node_modules/pyodide."
    )
    if given is not None:
        missing = [name for name in PARTS if not (given / name).is_file()]
        if missing:
            raise ScaffoldError(f"{given}: has no {', '.join(missing)} of Pyodide. {advice}")
        return given
    npm = shutil.which("npm")
    if npm is None:
        raise ScaffoldError(f"the page needs Pyodide, and there is no npm to get it. {advice}")
    command = [npm, "pack", f"pyodide@{PYODIDE}", "--silent"]
    try:
        subprocess.run(command, cwd=scratch, check=True, capture_output=True)
        [archive] = scratch.glob("pyodide-*.tgz")
        with tarfile.open(archive) as content:
            content.extractall(scratch, filter="data")
    except (OSError, subprocess.CalledProcessError, ValueError, tarfile.TarError):
        raise ScaffoldError(f"npm can't download pyodide {PYODIDE}. {advice}") from None
    return scratch / "package"


def _write_static(folder: Path, catalog: Catalog) -> None:
    """The built files, with the default project in the page: it is there before Python is."""
    page = Page(catalog, remember)
    calls = ("start", "ask", "render")
    first = {name: page.call(name, {}) for name in calls}
    text = json.dumps(first).replace("<", "\\u003c")  # nothing in it ends the element
    prepared = f'<script type="application/json" id="prepared">{text}</script>'
    static = resources.files("scaffold") / "web" / "static"
    for entry in static.iterdir():
        content = entry.read_bytes()
        if entry.name == "index.html":
            content = content.decode().replace(MARK, prepared).encode()
        if entry.name not in ("docs.css", "docs.html", "docs.js", "source.txt"):
            (folder / entry.name).write_bytes(content)


def _write_generator(path: Path, cache: Path) -> None:
    _fill_cache(cache)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted([*_code(), *_texts(cache, "cache")]):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
        origin = json.dumps(find_origin().as_table())
        archive.writestr("scaffold/web/origin.json", origin)


def _code() -> Iterator[tuple[str, bytes]]:
    package = Path(str(resources.files("scaffold")))
    for name, content in _texts(package, "scaffold"):
        parts = name.split("/")
        if name.endswith(".py") and (len(parts) == 2 or parts[1] in ROOMS):
            yield name, content
    yield from _texts(template_root(), "scaffold/templates")
    for package_name in PACKAGES:
        found = metadata.distribution(package_name)
        for file in found.files or ():
            # without compiled parts: Python takes the sources beside them
            is_source = file.suffix in (".py", ".txt", ".json")
            if (
                is_source
                and not {"..", "test", "tests"} & {*file.parts}
                and "-" not in file.parts[0]
            ):
                yield file.as_posix(), Path(str(found.locate_file(file))).read_bytes()


def _texts(folder: Path, inside: str) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"{inside}/{path.relative_to(folder).as_posix()}", path.read_bytes()


def _fill_cache(folder: Path) -> None:
    """Cache what the likeliest answers render: formatting takes most of the time of a render."""
    before = os.environ.get(CACHE)
    os.environ[CACHE] = str(folder)
    try:
        load_catalog.cache_clear()
        catalog = load_catalog()  # its manifests are cached too
        for given in _likely(catalog):
            try:
                render_project(catalog, resolve(catalog, given), remember)
            except AnswerError:  # it works only with others
                continue
    finally:
        if before is None:
            del os.environ[CACHE]
        else:
            os.environ[CACHE] = before


def _likely(catalog: Catalog) -> Iterator[Answers]:
    """The defaults, with one answer changed: each task, feature, and choice of the hardware."""
    name: Answers = {"project.name": NAME}
    yield name
    for feature in catalog.features.values():
        yield {**name, feature.switch_key: feature.example}
    for option in catalog.settings.values():
        if option.key in ("project.task", "project.loop") or option.table == "hardware":
            for choice in option.choices:
                yield {**name, option.key: choice.value}
