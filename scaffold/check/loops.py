"""What a training script does in its loops: who steps, who clears, who evaluates."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import TypeAlias

from scaffold.check.source import FUNCTIONS, Parameter, Source, is_constant, last, named, word

Found: TypeAlias = Iterator[ast.AST]
LOOPS = (ast.For, ast.While)
__all__ = ["FUNCTIONS", "LOOPS", "TESTS", "Found", "Source", "Step", "around", "ast", "evaluations"]
__all__ += ["has_equal_batches", "has_processes", "is_accelerator", "is_constant", "is_given"]
__all__ += ["added", "additions", "counted", "is_optimizer", "is_schedule", "is_update", "last"]
__all__ += ["length_of", "loader_of", "named", "steps_of", "word"]
LENGTHS = ("T_max", "total_steps", "num_training_steps")
MODELS = r"\w*(?:model|net|network|(?:en|de)coder|classifier|transformer|(?:gener|discrimin)ator)"
TESTS = r"eval|evaluate|evaluation|\w*valid|\w*validation|validate|vali|val|tests?|testing"


@dataclass(frozen=True)
class Step:
    """The innermost loop, or else the function, with a call of `backward`."""

    source: Source
    node: ast.AST

    def calls(self, *names: str) -> list[ast.Call]:
        """In order of lines."""
        nodes = self.source.within(self.node)
        return [n for n in nodes if isinstance(n, ast.Call) and last(n.func) in names]

    @cached_property
    def loops(self) -> bool:
        return isinstance(self.node, LOOPS)

    @cached_property
    def backwards(self) -> list[ast.Call]:
        return self.calls("backward")

    @cached_property
    def updates(self) -> list[ast.Call]:
        """The steps of optimizers, also through a scaler."""
        return [call for call in self.calls("step") if is_update(self.source, call)]

    @cached_property
    def losses(self) -> set[str]:
        """The names of what `backward` is called with."""
        roots = [v for c in self.backwards for v in (getattr(c.func, "value", c), *c.args)]
        names = {node.id for root in roots for node in ast.walk(root) if isinstance(node, ast.Name)}
        return names - {"accelerator", "self", "scaler", "fabric"}

    def condition(self, node: ast.AST) -> ast.expr | None:
        """The test of the innermost `if` around a node, in the loop."""
        inside = takewhile(lambda part: part is not self.node, self.source.above(node))
        return next((part.test for part in inside if isinstance(part, ast.If)), None)

    @cached_property
    def windows(self) -> list[ast.BinOp]:
        """`(step + 1) % n`, if that decides about each update."""
        tests = [self.condition(update) or ast.Constant(True) for update in self.updates]
        found = [[n for n in ast.walk(t) if isinstance(n, ast.BinOp)] for t in tests]
        modulo = [[n for n in nodes if isinstance(n.op, ast.Mod)] for nodes in found]
        return [n for nodes in modulo for n in nodes] if all(modulo) else []

    def scales(self) -> Iterator[tuple[ast.operator, ast.expr]]:
        """What a loss is divided or multiplied by."""
        for node in self.source.within(self.node):
            parts: list[ast.AST] = []
            match node:
                case ast.AugAssign(target=target) if last(target) in self.losses:
                    yield node.op, node.value
                case ast.Assign(targets=[target], value=value) if last(target) in self.losses:
                    parts = list(ast.walk(value))
                case ast.Call(func=ast.Attribute(attr="backward")):
                    parts = list(ast.walk(node))
            yield from ((n.op, n.right) for n in parts if isinstance(n, ast.BinOp))

    @cached_property
    def epochs(self) -> ast.For | None:
        """The loop over epochs around a loop over batches."""
        inside = takewhile(lambda n: not isinstance(n, FUNCTIONS), self.source.above(self.node))
        loop = next((part for part in inside if isinstance(part, LOOPS)), None)
        if not isinstance(self.node, ast.For) or not isinstance(loop, ast.For):
            return None
        loads = loader_of(self.source, self.node.iter) is not None
        nested = named(loop.target, "epoch") and last(self.node.iter) != "range"
        return loop if "range(" in ast.unparse(loop.iter) and (loads or nested) else None

    def ends_epoch(self, call: ast.Call) -> bool:
        """Whether a call stands once in the loop over epochs, after the updates of its batches."""
        loop = next((part for part in self.source.above(call) if isinstance(part, LOOPS)), None)
        same = [ast.unparse(other) for other in self.calls(last(call.func))]
        found = loop is not None and loop is self.epochs and bool(self.updates)
        return found and ast.unparse(call) not in same

    def accumulates(self, node: ast.AST) -> bool:
        """Whether a node is below `with accelerator.accumulate(...)`."""
        blocks = [part for part in self.source.above(node) if isinstance(part, ast.With)]
        return any(last(i.context_expr) == "accumulate" for block in blocks for i in block.items)


@lru_cache(maxsize=4)
def steps_of(source: Source) -> tuple[Step, ...]:
    """The training loops of a file."""
    found: dict[int, Step] = {}
    for call in source.calls("backward"):
        if not any("distributed.autograd" in name for name in source.origins(call.func)):
            kinds = (*LOOPS, *FUNCTIONS, ast.Module)
            node = next(part for part in source.above(call) if isinstance(part, kinds))
            found.setdefault(id(node), Step(source, node))
    return tuple(found.values())


def is_schedule(source: Source, node: ast.expr) -> bool:
    if named(node, r"\w*sched|\w*schedulers?|\w*schedule|get_\w*schedule\w*|one_cycle_lr"):
        return not named(node, "noise")
    return any(".lr_scheduler." in name or "schedule_with" in name for name in source.origins(node))


def length_of(source: Source, made: ast.Call) -> ast.expr | None:
    """The number of steps that a schedule is made for, as it was computed above."""
    function, skipped = source.project.called(made, source.scope(made))
    names = ["", "T_max"] if last(made) == "CosineAnnealingLR" else ["", "", "num_training_steps"]
    if function is not None:
        used = [node.id for node in ast.walk(function) if isinstance(node, ast.Name)]
        names = [n.arg if n.arg in used else "" for n in function.args.args][skipped:]
    given = [*zip(names, made.args, strict=False), *((w.arg, w.value) for w in made.keywords)]
    found = [value for name, value in given if name in LENGTHS]
    known = function is None or "epoch" not in ast.unparse(function)
    return source.latest(found[0])[-1] if found and known else None


def is_optimizer(source: Source, node: ast.expr) -> bool:
    if any(".optim." in name and ".lr_scheduler." not in name for name in source.origins(node)):
        return True
    return named(node, r"\w*optim|\w*optimi[sz]ers?|opt") and not is_schedule(source, node)


def is_update(source: Source, call: ast.Call) -> bool:
    """Whether a call steps an optimizer, also as `scaler.step(optimizer)`."""
    if last(call.func) != "step" or not isinstance(call.func, ast.Attribute):
        return False
    return any(is_optimizer(source, node) for node in (*call.args[:1], call.func.value))


def is_accelerator(source: Source, call: ast.Call) -> bool:
    """Whether this calls a method of an Accelerator."""
    owner = getattr(call.func, "value", None)
    return last(owner) == "accelerator" or bool(owner and source.is_a(owner, "Accelerator()"))


def has_processes(source: Source) -> bool:
    """Whether a script is written for several processes."""
    names = "Accelerator DDP FSDP DistributedDataParallel DistributedSampler init_process_group"
    return bool({*names.split(), "init_distributed_mode", "fully_shard"} & source.called.keys())


def loader_of(source: Source, node: ast.expr) -> ast.expr | None:
    """The loader that a loop reads: `loader` of `enumerate(tqdm(loader))`."""
    if isinstance(node, ast.Call):
        found = (loader_of(source, value) for value in node.args)
        return next((value for value in found if value is not None), None)
    if named(node, r"\w*loaders?|\w*_?dl|\w*batches"):
        return node
    return node if source.is_a(node, "utils.data.DataLoader()") else None


@lru_cache(maxsize=4)
def evaluations(source: Source) -> tuple[ast.For, ...]:
    """The loops that evaluate a model on a loader."""
    return tuple(n for n in source.all(ast.For) if isinstance(n, ast.For) and _tests(source, n))


def _tests(source: Source, node: ast.For) -> bool:
    loader = loader_of(source, node.iter)
    if loader is None:
        return False
    name = getattr(source.home(node), "name", "")
    if not named(loader, TESTS) and (not named(name, TESTS) or named(loader, "train")):
        return False
    calls = [part for part in source.within(node) if isinstance(part, ast.Call)]
    if any(last(call.func) == "backward" or is_update(source, call) for call in calls):
        return False
    return any(named(call.func, MODELS) for call in calls)


def is_given(source: Source, node: ast.expr) -> bool:
    """Whether other files give it: as an argument of a function that this one does not call."""
    found = list(source.bindings(node))
    elsewhere = found != [] and not list(source.values(node))
    return elsewhere and all(isinstance(one, Parameter) for one in found)


def added(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """A name, and what is added or appended to it."""
    match node:
        case ast.AugAssign(target=target, op=ast.Add(), value=value):
            return target, value
        case ast.Call(func=ast.Attribute(attr="append", value=target), args=[value]):
            return target, value
        case ast.Assign(targets=[target], value=ast.BinOp(left=left, op=ast.Add(), right=value)):
            return (target, value) if ast.unparse(left) == ast.unparse(target) else None
    return None


def has_equal_batches(source: Source, loop: ast.For) -> bool:
    """Whether a loader has batches of one sample, or drops a smaller last one."""
    loader = loader_of(source, loop.iter)
    made = [n for n in source.values(loader) if isinstance(n, ast.Call)] if loader else []
    sizes = [value for call in made for value in (word(call, "batch_size"), *call.args[1:2])]
    whole = any(is_constant(word(call, "drop_last"), True) for call in made)
    return whole or any(is_constant(size, 1) for size in sizes)


def additions(source: Source, loop: ast.For) -> list[tuple[str, ast.expr]]:
    """What is added once in each round of a loop: the names, and the values."""
    inside = [node for node in source.within(loop) if isinstance(node, LOOPS)]
    inner = {id(part) for node in inside for part in ast.walk(node)}
    found = [added(node) for node in source.within(loop) if id(node) not in inner]
    return [(last(pair[0]), pair[1]) for pair in found if pair]


def around(source: Source, node: ast.AST) -> list[ast.AST]:
    """A node, its function, the calls of that in this file, their functions, and so on."""
    found: list[ast.AST] = [node]
    for part in found:
        new = source.calls(part.name) if isinstance(part, FUNCTIONS) else [source.home(part)]
        found += [other for other in new if other not in found]
    return found


def counted(source: Source, node: ast.expr) -> set[str]:
    """The loaders whose length is in this expression, also by way of one variable."""
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    values = [node, *(value for name in names for value in source.latest(name))]
    nodes = [part for value in values for part in ast.walk(value) if isinstance(part, ast.Call)]
    calls = [call for call in nodes if last(call) == "len" and call.args]
    return {last(found) for n in calls if (found := loader_of(source, n.args[0])) is not None}
