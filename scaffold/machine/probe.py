"""Looks into the Python of a project: `scaffold doctor` runs this text in a process of its own.

Each step prints a line of JSON, so that what was found is kept if a later step crashes. It may run
in an older Python than this package needs, and imports nothing from the package.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import platform
import sys
import sysconfig
import warnings
from pathlib import Path
from typing import Any


def main() -> None:
    """Answer the question in the first argument: names of packages and modules, and imports."""
    question = json.loads(sys.argv[1])
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is not an answer

    def tell(facts: dict[str, Any]) -> None:
        print(json.dumps(facts), file=answer, flush=True)

    tell(about_python())
    packages = installed(question["packages"])
    tell({"packages": packages})
    tell({"modules": [name for name in question["modules"] if is_there(name)]})
    if not is_there("torch"):
        return
    error = import_error("torch")
    tell({"torch_error": error})
    if error:
        return
    tell(about_torch())
    tell(devices())
    if is_there("accelerate"):
        error = import_error("accelerate")
        tell({"accelerate_error": error})
        if error:
            return
    imports, errors = question["imports"], {}
    seen = [package for package, _ in imports]
    for name in packages:  # other libraries import these, such as Accelerate its trackers
        module = name.replace("-", "_")
        if module not in seen and is_there(module):
            imports.append((module, f"import {module}"))
    for package, statement in imports:
        if package not in errors:
            tell({"importing": package})  # known even if this ends the process
            error = statement_error(statement)
            if error:
                errors[package] = error
            tell({"importing": "", "import_errors": errors})


def about_python() -> dict[str, Any]:
    headers = Path(sysconfig.get_paths()["include"]) / "Python.h"
    version = platform.python_version()
    return {"python": sys.executable, "version": version, "headers": headers.is_file()}


def installed(names: list[str]) -> dict[str, str]:
    """The versions of the installed packages among these."""
    from importlib import metadata

    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {name: version for name, version in found.items() if version}


def is_there(name: str) -> bool:
    """Whether a module can be found."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def import_error(name: str) -> str:
    """Why a module can't be imported, empty if it can."""
    try:
        importlib.import_module(name)
    except BaseException as error:  # whatever a broken installation does
        return first_line(error)
    return ""


def statement_error(statement: str) -> str:
    """What an import statement raises, empty if it works."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(statement, {})
    except BaseException as error:
        return first_line(error)
    return ""


def first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".strip().splitlines()[0]


def about_torch() -> dict[str, Any]:
    """What torch was built for."""
    torch = importlib.import_module("torch")
    built = {name: getattr(torch.version, name, None) or "" for name in ("cuda", "hip", "xpu")}
    return {"built": built, "archs": torch.cuda.get_arch_list() if built["cuda"] else []}


def devices() -> dict[str, Any]:
    """The devices that torch sees, and what it warns about when it looks for them."""
    torch = importlib.import_module("torch")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kind = kind_of_devices(torch)
        count = getattr(torch, kind).device_count() if kind else 0
    note = str(caught[0].message).strip().splitlines()[0] if caught else ""
    return {"note": note, "devices": [device(torch, kind, number) for number in range(count)]}


def kind_of_devices(torch: Any) -> str:
    """As torch names it, empty if there is only the CPU."""
    if torch.cuda.is_available():
        return "cuda"
    if not hasattr(torch, "accelerator"):  # before 2.6
        return "mps" if torch.backends.mps.is_available() else ""
    found = torch.accelerator.current_accelerator()
    return found.type if found is not None and torch.accelerator.is_available() else ""


def device(torch: Any, kind: str, number: int) -> dict[str, Any]:
    """One device. Using it shows whether it works."""
    facts: dict[str, Any] = {"kind": kind}
    module = getattr(torch, kind)
    try:
        if kind == "mps":
            facts["name"] = "Apple GPU"
            facts["memory"] = module.recommended_max_memory()
            facts["bf16"] = bool(torch.backends.mps.is_macos_or_newer(14, 0))
            return facts
        facts["name"] = module.get_device_name(number)
        if kind == "cuda" and not torch.version.hip:
            facts["capability"] = list(module.get_device_capability(number))
            facts["bf16"] = facts["capability"][0] >= 8  # older ones only emulate it
        elif kind in ("cuda", "xpu"):
            facts["bf16"] = bool(module.is_bf16_supported())
        facts["free"], facts["memory"] = module.mem_get_info(number)
    except Exception as error:  # a device that is lost, or used by another process
        facts["error"] = first_line(error)
    return facts


if __name__ == "__main__":
    main()
