"""Puts what was found in a script into a rendered project."""

import ast
import builtins
import re
from collections.abc import Mapping
from pathlib import Path

from scaffold.eject.edits import Edits, margin
from scaffold.eject.plan import RESERVED, Evaluation, Plan, snippet
from scaffold.eject.script import IMPORTS, bound_names, imports_of, used_names
from scaffold.errors import ScaffoldError
from scaffold.render.imports import merge_imports
from scaffold.render.places import Line

OWN = ("model.py", "data.py", "train.py")  # where the user's code goes, in this order
UNUSED = ("learning_rate", "weight_decay", "num_workers")  # settings of ours that may go
MODULE = "module = accelerator.unwrap_model(model)"
TEST = r'evaluate\(accelerator, model, test_loader, "test"'


def fill(plan: Plan, rendered: Mapping[str, str]) -> dict[str, str]:
    """The files of the project. Raises ScaffoldError if the templates have no such place."""
    files = dict(rendered)
    if plan.answers.get("training.gradient_accumulation_steps", 1) != 1:
        plan.note("accumulation: an epoch leaves out batches that do not fill its last step")
    for module, is_used in {"meters": plan.logs or plan.sets, "items": plan.batches}.items():
        if is_used:
            text = (Path(__file__).parent / f"{module}.txt").read_text(encoding="utf-8")
            files[f"{module}.py"] = text
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
    if "val" not in plan.sets:
        for name in ("evaluation", "distributed"):  # which evaluate
            files.pop(f"tests/test_{name}.py", None)
    plan.note("tests/ are those of the task `own`: change what your data and model can't pass")
    return files


def _with_definitions(
    plan: Plan, text: str, module: str, homes: dict[str, str], local: set[str]
) -> str:
    """A text with the definitions of the script that it needs, and the imports."""
    found = plan.definitions_of(text)
    nodes = {part for name in found.keys() - homes.keys() for part in found[name]}
    own = [plan.block(node) for node in sorted(nodes, key=lambda node: node.lineno)]
    for name in {name for node in nodes for name in bound_names(node)}:
        homes.setdefault(name, module)
    body = ast.parse(text).body
    heads = [node for node in body if isinstance(node, IMPORTS)]
    rows, start = text.split("\n"), body[0].end_lineno or 0
    rest = "\n".join(rows[heads[-1].end_lineno if heads else start :]).strip("\n")
    code = re.sub(r"\n{4,}", "\n\n\n", "\n\n\n".join([*own, rest]))
    # what binds each name: the rendered imports first, then ours, then those of the script
    sources = RESERVED | plan.script.imports
    sources |= {name: f"from {at} import {name}" for name, at in homes.items() if at != module}
    sources |= dict(imports_of(*heads))
    sources |= {name: rows for name, rows in plan.script.imports.items() if rows[:7] == "import "}
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


class Places:
    """A rendered train.py. Its statements are found by how they begin."""

    def __init__(self, text: str) -> None:
        self.edits = Edits(text)
        functions = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
        inner = [n for part in functions if part.name == "main" for n in ast.walk(part)]
        self.nodes = [*functions, *(n for n in inner if isinstance(n, ast.stmt))]

    def find(self, pattern: str) -> ast.stmt:
        for node in self.nodes:
            if re.match(pattern, ast.unparse(node)):
                return node
        raise ScaffoldError(f"the templates have no {pattern!r} in train.py: change eject.")

    def swap(self, pattern: str, *texts: str) -> None:
        """Other lines instead of a statement, with its decorators."""
        node = self.find(pattern)
        start, end = self.edits.lines([node], above=False)
        new = margin("\n\n\n".join(filter(None, texts)), node.col_offset)
        self.edits.replace((start, end), f"{new}\n" if new else "")

    def put(self, text: str, *, above: str = "", below: str = "") -> None:
        """Lines above or below a statement."""
        node = self.find(above or below)
        line = node.lineno if above else (node.end_lineno or 0) + 1
        if text:
            self.edits.insert(self.edits.offset(line, 0), f"{margin(text, node.col_offset)}\n")


def write_train(plan: Plan, rendered: str) -> str:
    """Raises ScaffoldError if the templates have no such place."""
    text = _with_sets(plan, rendered)
    loop = f"for batch, items, weight in {plan.batches}" if plan.batches else "for batch in bar"
    text = _change(text, r"for inputs, targets in bar", loop)
    text = _change(text, r"train_loss.add\(loss, len\(targets\)\)", "train_loss.add(loss, samples)")
    if plan.scheduler and plan.answers.get("features.checkpoints.enabled", True):
        text = _change(text, r'(\s+|\{)("metrics_file": )', r'\1"scheduler": scheduler,\1\2')
    # a loader of a script may have no data set of a length
    text = re.sub(r"\n    samples = tuple\(.*", "", text)
    text = text.replace("Progress(batches_per_epoch, samples)", "Progress(batches_per_epoch)")
    if plan.keeps_modes:
        text = _change(text, r"\n        model\.train\(\)", "")
    if plan.loaders_take_model:
        text = text.replace("build_loaders(config)", "build_loaders(config, model)")
        text = _change(text, r"( .*build_loaders.*\n)( .*build_model.*\n)", r"\2\1")
    places = Places(text.replace("    train_loader = build", "    (train_loader,) = build"))
    _replace_functions(plan, places)
    rows = ["samples = find_batch_size(batch)"]
    rows += ["batch_idx = progress.batch"] if "batch_idx" in used_names(plan.step) else []
    casts = plan.alone or plan.answers.get("hardware.mixed_precision", "no") != "no"
    rows += [f"with accelerator.autocast():\n{margin(plan.step, 4)}" if casts else plan.step]
    places.swap("loss = compute_loss", "\n".join(rows))
    if plan.schedule == "step":
        places.put("scheduler.step()", above="progress.step [+]= 1")
    if plan.logs:
        places.put("values |= meters.read()", below="values = {")
    _fill_main(plan, places)
    return places.edits.apply()


def _change(text: str, pattern: str, new: str) -> str:
    text, count = re.subn(pattern, new, text)
    if not count:
        raise ScaffoldError(f"the templates have no {pattern!r} in train.py: change eject.")
    return text


def _with_sets(plan: Plan, text: str) -> str:
    """The rendered text without the evaluations that the script does not do."""
    if "test" in plan.sets:
        text = _change(text, TEST, 'evaluate_test(accelerator, model, test_loader, "test"')
    elif plan.sets:
        text = _change(text, TEST, 'evaluate(accelerator, model, val_loader, "val"')
    else:
        text = _change(text, r"\n    metrics = evaluate\(.*(\n    .*\bmetrics\b.*)*", "")
    if "val" not in plan.sets:
        text = _change(text, r"\n *metrics \|= evaluate\(.*", "")
    if len(plan.sets) < 2:
        text = _change(text, r"\n    if not len\(val_loader\).*\n.*", "")
    for name in {"val", "test"} - plan.sets.keys():
        text = _change(text, f", {name}_loader", "")
    return text


def _replace_functions(plan: Plan, places: Places) -> None:
    head = "def build_optimizer(model: nn.Module, config: Config) -> Optimizer:\n"
    functions = [head + margin(plan.optimizer, 4)]
    if plan.scheduler:
        head = "def build_scheduler(optimizer: Optimizer, model: nn.Module, total_steps: int, "
        functions.append(f"{head}config: Config):\n{margin(plan.scheduler, 4)}")
    places.swap("def build_optimizer", *functions, *plan.functions)
    places.swap("def compute_loss")
    places.swap("@torch.no_grad", *(_evaluate(*row, plan.keeps_modes) for row in plan.sets.items()))


def _evaluate(name: str, found: Evaluation, keeps_modes: bool) -> str:
    """The function that evaluates one set."""
    function, stage = ("evaluate", "validation") if name == "val" else ("evaluate_test", "test")
    used = used_names(found.start, found.step, found.end)
    target, batches = "batch", "islice(loader, limit or None)"
    if "batch_idx" in used:
        target, batches = "batch_idx, batch", f"enumerate({batches})"
    rows = [
        f'"""The means of what {stage} logs, over all samples, on any number of processes."""',
        "modes = [(part, part.training) for part in model.modules()]" if keeps_modes else "",
        "model.eval()",
        MODULE if "module" in used else "",
        "meters = Meters(accelerator)",
        found.start,
        f"for {target} in {batches}:",
        "    batch = meters.drop_padding(batch)",
        "    samples = find_batch_size(batch)" if "samples" in used else "",
        margin(found.step, 4),
        found.end,
        snippet("restore") if keeps_modes else "model.train()",
        "return meters.end()",
    ]
    head = f"@torch.no_grad()\ndef {function}(accelerator, model, loader, name, limit=0) -> dict:\n"
    return head + margin("\n".join(filter(None, rows)), 4)


def _fill_main(plan: Plan, places: Places) -> None:
    count = "batches_per_epoch, total_steps"
    places.put("\n".join(plan.start), above="accelerator = Accelerator")
    if plan.alone:
        places.put(snippet("alone", reason=plan.alone), below="accelerator = Accelerator")
    inner = "model"
    reads_module = "module" in used_names(plan.batches, plan.step, plan.epoch_end)
    if reads_module or "model" in used_names(plan.scheduler):
        inner = "module"
        places.put(MODULE, above=count)
    if plan.scheduler:
        call = f"scheduler = build_scheduler(optimizer.optimizer, {inner}, total_steps, config)"
        places.put(call, below=count)
    if plan.logs:
        places.put("meters = Meters(accelerator)", below=count)
    places.put("\n".join(plan.comments), above="for epoch in range")
    ends = "metrics |= meters.end()" if plan.logs else ""
    late = "meters" in plan.epoch_end  # what it logs is of this epoch, too
    places.put("" if late else ends, below="metrics = {'train_loss'")
    schedule = "scheduler.step()" if plan.schedule == "epoch" else ""
    rows = [plan.epoch_end, ends if late else "", schedule]
    places.put("\n".join(filter(None, rows)), above=r"done = epoch \+")
    places.put("\n".join(plan.end), above="model, optimizer = accelerator.free_memory")
