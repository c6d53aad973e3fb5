"""Puts what was found in a script into a rendered project."""

import ast
import builtins
import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from scaffold.eject.edits import Edits, indent
from scaffold.eject.plan import Evaluation, Plan
from scaffold.eject.script import IMPORTS, bound_names, used_names
from scaffold.errors import ScaffoldError
from scaffold.render.imports import merge_imports
from scaffold.render.places import Line

OURS = {  # imports of the code that we write
    "nn": "from torch import nn",
    "torch": "import torch",
    "SimpleNamespace": "from types import SimpleNamespace",
    "PartialState": "from accelerate import PartialState",
    "find_batch_size": "from accelerate.utils import find_batch_size",
    "islice": "from itertools import islice",
    "Meters": "from meters import Meters",
    "DataLoader": "from torch.utils.data import DataLoader",
    "inspect": "import inspect",
    "ceil": "from math import ceil",
    "AdamW": "from torch.optim import AdamW",
    "get_scheduler": "from transformers import get_scheduler",
    "DataCollatorWithPadding": "from transformers import DataCollatorWithPadding",
    "default_data_collator": "from transformers import default_data_collator",
    "EvalPrediction": "from transformers import EvalPrediction",
    "EvalLoopContainer": "from transformers.trainer_pt_utils import EvalLoopContainer",
    "get_parameter_names": "from transformers.trainer_pt_utils import get_parameter_names",
    "RemoveColumnsCollator": "from transformers.trainer_utils import RemoveColumnsCollator",
}
OWN = ("model.py", "data.py", "train.py")  # where the user's code goes, in this order


def fill(plan: Plan, rendered: Mapping[str, str]) -> dict[str, str]:
    """The files of the project. Raises ScaffoldError if the templates have no such place."""
    files = dict(rendered)
    texts = {name: rendered[name] for name in OWN}
    if plan.answers.get("training.gradient_accumulation_steps", 1) != 1:
        plan.note("accumulation: an epoch leaves out batches that do not fill its last step")
    train = Train(plan, rendered)
    texts["train.py"] = train.text()
    if plan.loop.logs or plan.has_val:
        files["meters.py"] = _meters()
    texts["model.py"] = (
        f'"""The model."""\n\n{_function("build_model(config) -> nn.Module", plan.model)}'
    )
    arguments = "config, model" if plan.loaders_take_model else "config"
    functions = [*plan.data_functions, _function(f"build_loaders({arguments})", plan.loaders)]
    texts["data.py"] = '"""The data."""\n\n' + "\n\n\n".join(functions)
    if plan.script.headline:
        texts["model.py"] = f"{_comment(plan.script.headline)}\n{texts['model.py']}"
    files |= place_definitions(plan, texts, rendered)
    _add_settings(plan, files)
    _watch(plan.monitors, files)
    if not plan.has_val:
        files.pop("tests/test_evaluation.py", None)
    return files


def _watch(monitors: Mapping[str, str], files: dict[str, str]) -> None:
    """Let each feature watch its metric, and the tests that of the best model."""
    for feature, metric in monitors.items():
        text = files["train.py"]
        for call in (f"{feature}.update(", f"{feature}.update(-"):
            text = text.replace(f'{call}metrics["val_loss"]', f'{call}metrics["{metric}"]')
        if feature == "early_stopping":
            text = text.replace("no better val_loss", f"no better {metric}")
        files["train.py"] = text
    if monitors:
        metric = monitors.get("best_model") or next(iter(monitors.values()))
        for name, text in files.items():
            if name.startswith("tests/"):
                files[name] = text.replace('"val_loss"', f'"{metric}"')


def _meters() -> str:
    return (Path(__file__).parent / "meters.txt").read_text(encoding="utf-8")


def _comment(text: str) -> str:
    return "\n".join(
        row if row.startswith("#") else f"# {row}".rstrip() for row in text.split("\n")
    )


def _function(head: str, body: str) -> str:
    body = body.lstrip("\n")
    return f"def {head}:\n{indent(body, 4)}\n"


# definitions of the script, each in the first file that needs it


def place_definitions(
    plan: Plan, texts: Mapping[str, str], rendered: Mapping[str, str]
) -> dict[str, str]:
    """The files with the definitions of the script that their code needs, and their imports."""
    homes: dict[str, str] = {}  # name -> module
    found = {}
    for name, text in texts.items():
        needs = _closure(plan, text, set(homes))
        nodes = [
            node
            for node in plan.script.tree.body
            if any(plan.script.definitions[n] is node for n in needs)
        ]
        own = [_definition(plan, node) for node in nodes]
        homes |= {bound: name.removesuffix(".py") for bound in needs}
        found[name] = finish(plan, _insert(text, own), homes, name.removesuffix(".py"), rendered)
    return found


def _closure(plan: Plan, text: str, known: Collection[str]) -> set[str]:
    """The names of the script's definitions that a text needs, directly or not."""
    tree = ast.parse(text)
    own = set().union(*(bound_names(node) for node in tree.body if not isinstance(node, IMPORTS)))
    wanted, found = used_names(tree) - own, set[str]()
    while wanted:
        name = wanted.pop()
        node = plan.script.definitions.get(name)
        if node is None or name in found or name in known:
            continue
        bound = bound_names(node) & plan.script.definitions.keys()
        found |= {name, *(bound - set(known))}
        wanted |= used_names(ast.parse(_definition(plan, node))) - found
    return found


def _definition(plan: Plan, node: ast.stmt) -> str:
    body = plan.script.tree.body
    place = body.index(node)
    after = body[place - 1].end_lineno if place else 0
    return plan.text([node], after or 0)


def _insert(text: str, definitions: Sequence[str]) -> str:
    """A text with definitions below its imports."""
    if not definitions:
        return text
    tree = ast.parse(text)
    heads = [n for n in tree.body if isinstance(n, IMPORTS)]
    if not heads and tree.body and isinstance(tree.body[0], ast.Expr):
        heads = [tree.body[0]]  # type: ignore[list-item]
    rows = text.split("\n")
    place = heads[-1].end_lineno or 0 if heads else 0
    added = "\n\n\n".join(definitions)
    return "\n".join([*rows[:place], "", "", added, "", "", *rows[place:]])


def finish(
    plan: Plan, text: str, homes: Mapping[str, str], module: str, rendered: Mapping[str, str]
) -> str:
    """A text with the imports that it needs, and no others."""
    tree = ast.parse(text)
    bound = set().union(*(bound_names(node) for node in tree.body if not isinstance(node, IMPORTS)))
    used = used_names(tree) | _in_strings(tree)
    kept: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, IMPORTS):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                if name in used:
                    kept[name] = ast.unparse(_only(node, alias))
    imports = set(kept.values())
    for name in used - bound - set(kept) - set(dir(builtins)):
        if name in homes and homes[name] != module:
            imports.add(f"from {homes[name]} import {name}")
        elif statement := plan.script.imports.get(name, OURS.get(name)):
            imports |= set(statement.split("\n"))
    local = {name.removesuffix(".py") for name in rendered if "/" not in name} | {"meters"}
    lines = [Line(text, Path(module), 1) for statement in sorted(imports) for text in [statement]]
    block = [line.text for line in merge_imports([lines], local)] if lines else []
    return _with_imports(text, tree, block)


def _in_strings(tree: ast.AST) -> set[str]:
    """Names in annotations that are strings."""
    found: set[str] = set()
    for node in ast.walk(tree):
        annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
        for part in ast.walk(annotation) if isinstance(annotation, ast.AST) else ():
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                found |= set(re.findall(r"\w+", part.value))
    return found


def _only(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> ast.stmt:
    if isinstance(node, ast.Import):
        return ast.Import([alias])
    return ast.ImportFrom(node.module, [alias], node.level)


def _with_imports(text: str, tree: ast.Module, block: Sequence[str]) -> str:
    rows: list[str | None] = list(text.split("\n"))
    nodes = [node for node in tree.body if isinstance(node, IMPORTS)]
    for node in nodes:
        rows[node.lineno - 1 : node.end_lineno] = [None] * (
            (node.end_lineno or 0) - node.lineno + 1
        )
    first = tree.body[0] if tree.body else None
    place = first.end_lineno or 0 if isinstance(first, ast.Expr) else 0
    if nodes:
        place = nodes[0].lineno - 1
    head = [row for row in rows[:place] if row is not None]
    tail = [row for row in rows[place:] if row is not None]
    while tail and not tail[0].strip():
        tail.pop(0)
    while head and not head[-1].strip():
        head.pop()
    code = next((row for row in tail if not row.startswith("#")), "")
    gap = ["", ""] if code.startswith(("def ", "class ", "@", "async ")) else [""]
    lines = [*head, "", *block, *gap, *tail] if block else [*head, *gap, *tail]
    joined = re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines).strip("\n"))
    return joined + "\n"


# train.py


class Places:
    """The rendered train.py, and its places, found by their structure."""

    def __init__(self, plan: Plan, rendered: Mapping[str, str]) -> None:
        self.plan, self.source = plan, rendered["train.py"]
        self.tree = ast.parse(self.source)
        self.edits = Edits(self.source)
        self.parents = {
            id(child): node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)
        }
        self.main = self._function("main")

    def _function(self, name: str) -> ast.FunctionDef:
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return node
        raise ScaffoldError(f"the templates have no {name} in train.py: eject needs to be changed.")

    def calls(self, name: str) -> Iterator[ast.Call]:
        """Calls in main: `build_loaders`, or `optimizer.step`."""
        for node in ast.walk(self.main):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == name:
                yield node

    def statement(self, node: ast.AST) -> ast.stmt:
        while not isinstance(node, ast.stmt):
            node = self.parents[id(node)]
        return node

    def first(self, name: str) -> ast.stmt:
        """The statement of main with the first call of a function."""
        for call in self.calls(name):
            return self.statement(call)
        raise ScaffoldError(f"the templates don't call {name} in main: eject needs to be changed.")

    def put(self, node: ast.stmt, text: str, *, below: bool = True) -> None:
        """Insert lines below or above a statement of main."""
        if text:
            first = self.edits.offset(node.lineno, 0)
            end = self.edits.offset((node.end_lineno or 0) + 1, 0)
            self.edits.insert(end if below else first, indent(text, node.col_offset) + "\n")

    def swap(self, node: ast.stmt, text: str) -> None:
        """Other lines instead of a statement."""
        start, end = self.edits.offset(node.lineno, 0), self.edits.offset(
            (node.end_lineno or 0) + 1, 0
        )
        self.edits.replace((start, end), indent(text, node.col_offset) + "\n" if text else "")

    def _whole(self, node: ast.FunctionDef) -> tuple[int, int]:
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        return self.edits.offset(first, 0), self.edits.offset((node.end_lineno or 0) + 1, 0)

    def _loop(self) -> ast.For:
        """The innermost loop with the backward pass."""
        node: ast.AST = self.first("accelerator.backward")
        while not isinstance(node, ast.For):
            node = self.parents[id(node)]
        return node

    def _epochs(self) -> ast.For:
        node: ast.AST = self._loop()
        while self.parents[id(node)] is not self.main:
            node = self.parents[id(node)]
        assert isinstance(node, ast.For)
        return node

    def plan_text(self, node: ast.stmt) -> str:
        start, end = self.edits.span(node)
        return self.source[start:end]

    def _is_dict(self, node: ast.AST, name: str) -> bool:
        """Whether a statement binds a name to the literal of a dictionary."""
        return (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == name
            and isinstance(node.value, ast.Dict)
        )


class Step(Places):
    """The functions and the step."""

    def _replace_functions(self) -> None:
        plan, edits = self.plan, self.edits
        functions = [
            _function(
                "build_optimizer(model: nn.Module, config: Config) -> Optimizer", plan.optimizer
            )
        ]
        if plan.scheduler:
            head = "build_scheduler(optimizer: Optimizer, model: nn.Module, total_steps: int, "
            head += "config: Config)"
            functions.append(_function(head, plan.scheduler))
        functions += [text + "\n" for text in plan.functions]
        old = self._function("build_optimizer")
        edits.replace(self._whole(old), "\n\n".join(functions))
        edits.replace(self._whole(self._function("compute_loss")), "")
        new: list[str] = []
        if plan.has_val:
            new.append(_evaluate("evaluate", "validation", plan.evaluation))
        if plan.has_test and plan.test:
            new.append(_evaluate("evaluate_test", "test", plan.test))
        edits.replace(self._whole(self._function("evaluate")), "\n\n".join(new))

    def _replace_step(self) -> None:
        loop, plan = self._loop(), self.plan
        losses = self.first("compute_loss")
        self.first("accelerator.backward")  # Accelerate divides by the batches of a step there
        self.edits.replace(loop.target, "batch")
        for node in ast.walk(loop):
            if isinstance(node, ast.Assign) and ast.unparse(node.value) == "batch":
                self.swap(node, "")
        rows = ["samples = find_batch_size(batch)"]
        step = plan.loop.step
        if "batch_idx" in used_names(ast.parse(step)):
            rows.append("batch_idx = progress.batch")
        if plan.loop.alone or plan.answers.get("hardware.mixed_precision", "no") != "no":
            step = f"with accelerator.autocast():\n{indent(step, 4)}"
        self.swap(losses, "\n".join([*rows, step]))
        for call in self.calls("train_loss.add"):
            self.edits.replace(call.args[1], "samples")
        if plan.loop.after_update:
            for node in ast.walk(self.main):
                if isinstance(node, ast.AugAssign) and ast.unparse(node.target) == "progress.step":
                    self.put(node, plan.loop.after_update, below=False)
        if plan.loop.logs:
            for node in ast.walk(self.main):
                if self._is_dict(node, "values"):
                    self.put(node, "values |= meters.read()")  # type: ignore[arg-type]


class Train(Step):
    """Also the evaluations, and what stands around the loop."""

    def text(self) -> str:
        plan = self.plan
        self._replace_functions()
        self._replace_step()
        self._replace_evaluations()
        self._fit_start()
        self._fit_epochs()
        if plan.ends:
            call = "after_training(accelerator.unwrap_model(model))"
            self.put(self.first("accelerator.free_memory"), call, below=False)
        for row in plan.leftover:
            self.put(self.first("accelerator.free_memory"), row, below=False)
        return self.edits.apply()

    def _replace_evaluations(self) -> None:
        plan = self.plan
        for call in self.calls("evaluate"):
            statement, is_test = self.statement(call), "test_loader" in ast.unparse(call)
            if is_test and plan.has_test:
                self.edits.replace(call.func, "evaluate_test")
            elif not plan.has_val:
                self._remove_metrics(statement) if is_test else self.swap(statement, "")
            elif is_test:
                self._replace_names(call)
            elif plan.evaluate_every > 1:
                old = self.plan_text(statement)
                self.swap(
                    statement, f"if (epoch + 1) % {plan.evaluate_every} == 0:\n{indent(old, 4)}"
                )
        if not (plan.has_val and plan.has_test):
            for node in ast.walk(self.main):
                if isinstance(node, ast.If) and "len(test_loader)" in ast.unparse(node.test):
                    self.swap(node, "")
        if not plan.has_test:
            for node in ast.walk(self.main):
                if isinstance(node, ast.Tuple) and any(
                    ast.unparse(e) == "test_loader" for e in node.elts
                ):
                    self._without(node.elts)
                elif isinstance(node, ast.Call) and ast.unparse(node.func) != "evaluate":
                    self._without(node.args)

    def _remove_metrics(self, node: ast.stmt) -> None:
        """Take out an evaluation at the end, and the lines that tell of it."""
        body = self.main.body
        place = body.index(node)
        for other in body[place:]:
            if other is node or "metrics" in used_names(other):
                self.swap(other, "")
            else:
                break

    def _replace_names(self, call: ast.Call) -> None:
        for part in call.args:
            if ast.unparse(part) == "test_loader":
                self.edits.replace(part, "val_loader")
            elif ast.unparse(part) == "'test'":
                self.edits.replace(part, '"val"')

    def _without(self, parts: Sequence[ast.expr]) -> None:
        gone = {"test_loader"} | (set() if self.plan.has_val else {"val_loader"})
        for before, part in itertools.pairwise(parts):
            if ast.unparse(part) in gone:
                self.edits.replace((self.edits.span(before)[1], self.edits.span(part)[1]), "")

    def _fit_start(self) -> None:
        plan = self.plan
        loaders, model = self.first("build_loaders"), self.first("build_model")
        if plan.loaders_take_model:
            text = self.plan_text(loaders).replace("(config)", "(config, model)")
            for name, on in (("test_loader", plan.has_test), ("val_loader", plan.has_val)):
                text = text if on else text.replace(f", {name}", "")
            self.swap(loaders, "")
            self.put(model, self._one(text))
        elif not (plan.has_val or plan.has_test):
            self.swap(loaders, "(train_loader,) = build_loaders(config)")
        for row in plan.start:
            self.put(self.main.body[0], row, below=False)
        if plan.loop.alone:
            self.put(self.first("Accelerator"), ALONE.format(reason=plan.loop.alone))
        count = self.first("count_steps")
        inner = "model"
        if self._uses_module():
            inner = "module"
            self.put(count, "module = accelerator.unwrap_model(model)", below=False)
        if plan.scheduler:
            arguments = f"optimizer.optimizer, {inner}, total_steps, config"
            self.put(count, f"scheduler = build_scheduler({arguments})")
            self._add_state("scheduler")
        if plan.loop.logs:
            self.put(count, "meters = Meters(accelerator)")

    def _one(self, text: str) -> str:
        return text.replace("train_loader =", "(train_loader,) =")

    def _uses_module(self) -> bool:
        loop = self.plan.loop
        texts = (loop.before, loop.epoch_start, loop.step, loop.epoch_end, loop.after)
        return any("module" in used_names(ast.parse(text)) for text in texts) or (
            "model" in used_names(ast.parse(_function("build()", self.plan.scheduler or "pass")))
        )

    def _add_state(self, name: str) -> None:
        for node in ast.walk(self.main):
            if self._is_dict(node, "states"):
                assert isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
                last, comma = node.value.values[-1], ", "
                if last.lineno > node.value.lineno:  # a line for each
                    comma = ",\n" + " " * (node.col_offset + 4)
                self.edits.insert(self.edits.span(last)[1], f'{comma}"{name}": {name}')

    def _fit_epochs(self) -> None:
        loop, epochs = self.plan.loop, self._epochs()
        self.put(epochs, loop.before, below=False)
        for node in epochs.body:
            if ast.unparse(node) == "model.train()":
                self.put(node, loop.epoch_start)
        metrics = [
            n
            for n in epochs.body
            if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "metrics"
        ]
        below = next(
            (
                n
                for n in epochs.body
                if isinstance(n, ast.AugAssign) and ast.unparse(n.target) == "metrics"
            ),
            None,
        )
        if metrics:
            rows = [loop.epoch_end, loop.schedule]
            if loop.logs and "meters" in loop.epoch_end:  # it logs, too
                rows.insert(1, "metrics |= meters.end()")
            elif loop.logs:
                self.put(metrics[0], "metrics |= meters.end()")
            self.put(below or metrics[0], "\n".join(row for row in rows if row))
        self.put(epochs, loop.after)


ALONE = """if accelerator.num_processes > 1:
    raise SystemExit("One process only: {reason}, so gradients would not be averaged.")"""


def _evaluate(name: str, stage: str, found: Evaluation) -> str:
    """The function that evaluates one set."""
    body = [
        "model.eval()",
        "module = accelerator.unwrap_model(model)",
        "meters = Meters(accelerator)",
        found.start,
        "for batch_idx, batch in enumerate(islice(loader, limit or None)):",
        indent("samples = find_batch_size(batch)", 4),
        indent(found.step, 4),
        found.end,
        "model.train()",
        "return meters.end()",
    ]
    text = "\n".join(part for part in body if part)
    used = used_names(ast.parse(text.replace("module = accelerator.unwrap_model(model)", "")))
    if "module" not in used:
        text = text.replace("module = accelerator.unwrap_model(model)\n", "")
    if "samples" not in used:
        text = text.replace("    samples = find_batch_size(batch)\n", "")
    if "batch_idx" not in used:
        text = text.replace(
            "for batch_idx, batch in enumerate(islice(loader, limit or None)):",
            "for batch in islice(loader, limit or None):",
        )
    doc = f'"""The means of what {stage} logs, over all samples, on any number of processes."""'
    head = f"@torch.no_grad()\ndef {name}(accelerator, model, loader, name, limit=0) -> dict:"
    return f"{head}\n{indent(doc, 4)}\n{indent(text, 4)}\n"


# settings


def _add_settings(plan: Plan, files: dict[str, str]) -> None:
    """Fields of Config for the script's own settings; those of ours that nothing reads go."""
    name = next(
        name for name, text in files.items() if name.endswith(".py") and "class Config" in text
    )
    text = files[name]
    tree = ast.parse(text)
    node = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Config")
    edits = Edits(text)
    code = "\n".join(
        t for n, t in files.items() if n.endswith(".py") and not n.startswith("tests/")
    )
    if not re.search(r"\bconfig\.batch_size\b", files["data.py"]):
        plan.note("batch_size: the script's own code decides it, so --batch-size has no effect")
    known = set()
    for row in node.body:
        if isinstance(row, ast.AnnAssign) and isinstance(row.target, ast.Name):
            if row.target.id == "limit_batches" and plan.limit and row.value:
                edits.replace(row.value, str(plan.limit))
            known.add(row.target.id)
            read = re.search(rf"\bconfig\.{row.target.id}\b", code)
            if row.target.id in ("learning_rate", "weight_decay", "num_workers") and not read:
                start = edits.offset(row.lineno, 0)
                edits.replace((start, edits.offset((row.end_lineno or 0) + 1, 0)), "")
    fields = [
        line
        for field, line in plan.fields.items()
        if field not in known
        and re.search(rf"\bconfig\.{field}\b|\(config\)|\*\*vars\(config\)", code)
    ]
    if fields:
        end = edits.offset((node.end_lineno or 0) + 1, 0)
        edits.insert(end, indent("\n".join(fields), 4) + "\n")
    files[name] = edits.apply()
    for other, content in files.items():
        if other.startswith("tests/") and not re.search(r"\bconfig\.learning_rate\b", code):
            files[other] = content.replace("config.learning_rate", "0.01")
