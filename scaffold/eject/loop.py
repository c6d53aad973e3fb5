"""The train.py of an ejected project: the rendered one, with the script's steps in its places."""

import ast
import re

from scaffold.eject.edits import Edits, margin
from scaffold.eject.plan import Evaluation, Plan
from scaffold.eject.script import used_names
from scaffold.errors import ScaffoldError

ALONE = """if accelerator.num_processes > 1:
    raise SystemExit("One process only: {reason}, so gradients would not be averaged.")"""
MODULE = "module = accelerator.unwrap_model(model)"
TEST = r'evaluate\(accelerator, model, test_loader, "test"'


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
        start, end = self.edits.lines([node], node.lineno)
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
    text, loop = _with_sets(plan, rendered), plan.loop
    text = _change(text, r"for inputs, targets in bar", "for batch in bar")
    text = _change(text, r"train_loss.add\(loss, len\(targets\)\)", "train_loss.add(loss, samples)")
    if plan.scheduler:
        states = r'(\s+|\{)("metrics_file": metrics_file)'
        text = _change(text, states, r'\1"scheduler": scheduler,\1\2')
    if plan.loaders_take_model:
        text = text.replace("build_loaders(config)", "build_loaders(config, model)")
        text = _change(text, r"( .*build_loaders.*\n)( .*build_model.*\n)", r"\2\1")
    places = Places(text.replace("    train_loader = build", "    (train_loader,) = build"))
    _replace_functions(plan, places)
    rows = ["samples = find_batch_size(batch)"]
    rows += ["batch_idx = progress.batch"] if "batch_idx" in used_names(loop.step) else []
    if loop.alone or plan.answers.get("hardware.mixed_precision", "no") != "no":
        rows.append(f"with accelerator.autocast():\n{margin(loop.step, 4)}")
    else:
        rows.append(loop.step)
    places.swap("loss = compute_loss", "\n".join(rows))
    if loop.schedule == "step":
        places.put("scheduler.step()", above="progress.step [+]= 1")
    if loop.logs:
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
    if plan.has_test:
        text = _change(text, TEST, 'evaluate_test(accelerator, model, test_loader, "test"')
    elif plan.has_val:
        text = _change(text, TEST, 'evaluate(accelerator, model, val_loader, "val"')
    else:
        text = _change(text, r"\n    metrics = evaluate\(.*(\n    .*\bmetrics\b.*)*", "")
    if not plan.has_val:
        text = _change(text, r"\n *metrics \|= evaluate\(.*", "")
    if not (plan.has_val and plan.has_test):
        text = _change(text, r"\n    if not len\(val_loader\).*\n.*", "")
    gone = [] if plan.has_val else [", val_loader"]
    for name in [*gone, *([] if plan.has_test else [", test_loader"])]:
        text = _change(text, name, "")
    return text


def _replace_functions(plan: Plan, places: Places) -> None:
    head = "def build_optimizer(model: nn.Module, config: Config) -> Optimizer:\n"
    functions = [head + margin(plan.optimizer, 4)]
    if plan.scheduler:
        head = "def build_scheduler(optimizer: Optimizer, model: nn.Module, total_steps: int, "
        functions.append(f"{head}config: Config):\n{margin(plan.scheduler, 4)}")
    places.swap("def build_optimizer", *functions, *plan.functions)
    places.swap("def compute_loss")
    texts = [_evaluate("evaluate", "validation", plan.evaluation)] if plan.has_val else []
    texts += [_evaluate("evaluate_test", "test", plan.test)] if plan.has_test else []
    places.swap(r"@torch.no_grad\(\)\ndef evaluate", *texts)


def _evaluate(name: str, stage: str, found: Evaluation) -> str:
    """The function that evaluates one set."""
    used = used_names(found.start, found.step, found.end)
    target, batches = "batch", "islice(loader, limit or None)"
    if "batch_idx" in used:
        target, batches = "batch_idx, batch", f"enumerate({batches})"
    rows = [
        f'"""The means of what {stage} logs, over all samples, on any number of processes."""',
        "model.eval()",
        MODULE if "module" in used else "",
        "meters = Meters(accelerator)",
        found.start,
        f"for {target} in {batches}:",
        "    samples = find_batch_size(batch)" if "samples" in used else "",
        margin(found.step, 4),
        found.end,
        "model.train()",
        "return meters.end()",
    ]
    head = f"@torch.no_grad()\ndef {name}(accelerator, model, loader, name, limit=0) -> dict:\n"
    return head + margin("\n".join(filter(None, rows)), 4)


def _fill_main(plan: Plan, places: Places) -> None:
    loop, count = plan.loop, "batches_per_epoch, total_steps"
    places.put("\n".join(plan.start), above="accelerator = Accelerator")
    if loop.alone:
        places.put(ALONE.format(reason=loop.alone), below="accelerator = Accelerator")
    inner = "model"
    if "module" in used_names(loop.step, loop.epoch_end) or "model" in used_names(plan.scheduler):
        inner = "module"
        places.put(MODULE, above=count)
    if plan.scheduler:
        call = f"scheduler = build_scheduler(optimizer.optimizer, {inner}, total_steps, config)"
        places.put(call, below=count)
    if loop.logs:
        places.put("meters = Meters(accelerator)", below=count)
    places.put("\n".join(plan.comments), above="for epoch in range")
    ends = "metrics |= meters.end()" if loop.logs else ""
    if "meters" not in loop.epoch_end:  # else what it logs is of this epoch, too
        places.put(ends, below="metrics = {'train_loss'")
        ends = ""
    schedule = "scheduler.step()" if loop.schedule == "epoch" else ""
    rows = "\n".join(filter(None, [loop.epoch_end, ends, schedule]))
    places.put(rows, above=r"done = epoch \+")
    places.put("\n".join(plan.end), above="model, optimizer = accelerator.free_memory")
