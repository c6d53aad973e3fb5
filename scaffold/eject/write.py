"""Puts what was found in a script into a rendered project."""

import ast
import builtins
import re
from collections.abc import Mapping
from pathlib import Path

from scaffold.eject.edits import Edits, margin
from scaffold.eject.loop import write_train
from scaffold.eject.plan import RESERVED, Plan
from scaffold.eject.script import IMPORTS, bound_names, imports_of, used_names
from scaffold.render.imports import merge_imports
from scaffold.render.places import Line

OWN = ("model.py", "data.py", "train.py")  # where the user's code goes, in this order
UNUSED = ("learning_rate", "weight_decay", "num_workers")  # settings of ours that may go


def fill(plan: Plan, rendered: Mapping[str, str]) -> dict[str, str]:
    """The files of the project. Raises ScaffoldError if the templates have no such place."""
    files = dict(rendered)
    if plan.answers.get("training.gradient_accumulation_steps", 1) != 1:
        plan.note("accumulation: an epoch leaves out batches that do not fill its last step")
    if plan.loop.logs or plan.has_val:
        files["meters.py"] = (Path(__file__).parent / "meters.txt").read_text(encoding="utf-8")
    rows = plan.script.headline.split("\n") if plan.script.headline else []
    head = "\n".join(row if row.startswith("#") else f"# {row}".rstrip() for row in rows)
    model = f"def build_model(config) -> nn.Module:\n{margin(plan.model, 4)}"
    arguments = "config, model" if plan.loaders_take_model else "config"
    loaders = f"def build_loaders({arguments}):\n{margin(plan.loaders, 4)}"
    texts = {
        "model.py": f'{head}\n"""The model."""\n\n\n{model}'.lstrip(),
        "data.py": f'"""The data."""\n\n\n{loaders}',
        "train.py": write_train(plan, rendered["train.py"]),
    }
    homes: dict[str, str] = {}  # the module of each name of the script
    local = {name.removesuffix(".py") for name in files if "/" not in name}
    for name, text in texts.items():
        files[name] = _with_definitions(plan, text, name.removesuffix(".py"), homes, local)
    _add_settings(plan, files)
    _watch(plan, files)
    if not plan.has_val:
        files.pop("tests/test_evaluation.py", None)
    return files


def _with_definitions(
    plan: Plan, text: str, module: str, homes: dict[str, str], local: set[str]
) -> str:
    """A text with the definitions of the script that it needs, and the imports."""
    known, found = plan.script.definitions, dict[str, str]()
    wanted = set(used_names(text) - bound_names(text))
    while wanted:
        name = wanted.pop()
        if name in known and name not in homes and name not in found:
            code = plan.statement(known[name])
            names = bound_names(known[name]) & known.keys() - homes.keys()
            found |= dict.fromkeys({name, *names}, code)
            wanted |= used_names(code)
    homes |= dict.fromkeys(found, module)
    places = {plan.statement(node): node.lineno for node in known.values()}
    own = sorted(set(found.values()), key=lambda code: places[code])
    body = ast.parse(text).body
    heads = [node for node in body if isinstance(node, IMPORTS)]
    rows, start = text.split("\n"), body[0].end_lineno or 0
    rest = "\n".join(rows[heads[-1].end_lineno if heads else start :]).strip("\n")
    code = re.sub(r"\n{4,}", "\n\n\n", "\n\n\n".join([*own, rest]))
    # what binds each name: the rendered imports first, then ours, then those of the script
    sources = RESERVED | plan.script.imports
    sources |= {
        name: f"from {home} import {name}" for name, home in homes.items() if home != module
    }
    sources |= dict(imports_of(*heads))
    unbound = used_names(code) - bound_names(code) - set(dir(builtins))
    imports = "\n".join(sources.get(name, "") for name in unbound)
    block = merge_imports([[Line(row, Path(module), 1) for row in imports.split("\n")]], local)
    first = next(row for row in code.split("\n") if not row.startswith("#"))
    gap = "\n\n\n" if first.startswith(("def ", "class ", "@", "async ")) else "\n\n"
    above = ["\n".join(rows[:start]), "\n".join(line.text for line in block)]
    return "\n\n".join(filter(None, above)) + f"{gap}{code}\n"


def _add_settings(plan: Plan, files: dict[str, str]) -> None:
    """Fields of Config for the script's own settings; those of ours that nothing reads go."""
    code = "\n".join(t for n, t in files.items() if n.endswith(".py") and "/" not in n)
    name = next(name for name, text in files.items() if "\nclass Config" in text)
    edits = Edits(files[name])
    [node] = [n for n in ast.parse(files[name]).body if getattr(n, "name", "") == "Config"]
    fields = dict(plan.fields)
    if "config.batch_size" not in files["data.py"]:
        plan.note("batch_size: the script's own code decides it, so --batch-size has no effect")
    for row in node.body:  # type: ignore[attr-defined]
        field = getattr(getattr(row, "target", None), "id", "")
        fields.pop(field, None)
        if field in UNUSED and not re.search(rf"\bconfig\.{field}\b", code):
            edits.replace((edits.offset(row.lineno, 0), edits.offset(row.end_lineno + 1, 0)), "")
    for row in fields.values():
        edits.insert(edits.offset((node.end_lineno or 0) + 1, 0), f"    {row}\n")
    files[name] = edits.apply()
    if not re.search(r"\bconfig\.learning_rate\b", code):
        _in_tests(files, "config.learning_rate", "0.01")


def _watch(plan: Plan, files: dict[str, str]) -> None:
    """Let each feature watch its metric, and the tests that of the best model."""
    for feature, metric in plan.monitors.items():
        watched = rf'({feature}\.update\(-?metrics\["|{feature}.stale.*no better )val_loss'
        files["train.py"] = re.sub(watched, rf"\g<1>{metric}", files["train.py"])
    if plan.monitors:
        metric = plan.monitors.get("best_model") or next(iter(plan.monitors.values()))
        _in_tests(files, '"val_loss"', f'"{metric}"')


def _in_tests(files: dict[str, str], old: str, new: str) -> None:
    for name, text in files.items():
        if name.startswith("tests/"):
            files[name] = text.replace(old, new)
