"""What the readers of all frameworks share: the statements before and after the training."""

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from scaffold.check.source import last
from scaffold.eject.edits import margin
from scaffold.eject.flow import HARMLESS, Item, calls_to, module_items, needed, root, words
from scaffold.eject.plan import ORDERS, UNKNOWN, Plan, table
from scaffold.eject.script import DEFINITIONS, IMPORTS, Script, bound_names, is_main, used_names

QUIET = ("warnings.", "logging.", "os.", "torch.set_", "torch.backends.")
SEEDS = ("seed_everything", "set_seed")
OPTIMIZER = {"lr": "learning_rate", "weight_decay": "weight_decay"}
MEASURED = "evaluate|validate|test|metrics|(callback|logged)_metrics|logger|state.log_history"
AGAIN = "it trains a second time: one project has one loop"
OWN = "an own Trainer's method is not carried over"
SAVED = "a run saves model.safetensors and checkpoints by itself"

Training = tuple[ast.Call, ast.Call]  # of a method that trains, and of its Trainer


def trainings(script: Script, trainers: list[ast.Call], word: str) -> list[Training]:
    """The calls of the method `word` of these Trainers, in the order in which they are written."""
    rows = []
    for trainer in trainers:
        statement = script.statement(trainer)
        names = bound_names(statement) if isinstance(statement, (ast.Assign, ast.AnnAssign)) else ()
        for call in script.source.calls(word):
            func = call.func
            if isinstance(func, ast.Attribute) and (func.value is trainer or root(func) in names):
                late = call.lineno < trainer.lineno  # in a function that is called later
                rows.append((late, call.lineno, -trainer.lineno, call, trainer))
    return [row[3:] for row in sorted(rows, key=lambda row: row[:3])]


class Statements:
    """A Trainer of the script, the call that trains, and what leads to it."""

    start_word = "fit"  # the method that trains
    given: dict[str, ast.expr]  # to the Trainer; for Lightning, to fit
    model_name = ""  # in the script

    def __init__(self, plan: Plan, trainer: ast.Call, calls: list[Training]) -> None:
        self.plan, self.script, self.trainer = plan, plan.script, trainer
        self.names = frozenset({root(call.func) for call, one in calls if one is trainer} - {""})
        self.start = self._find_start(next((call for call, _ in calls), None))
        self._find_others(dict.fromkeys(call for call, _ in calls[1:] if call is not self.start))
        self.before = self._find_before()
        values = {item: getattr(item.node, "value", None) for item in self.before}
        self.seeds = {item: call for item, call in values.items() if last(call) in SEEDS}
        plan.dropped |= self.seeds.keys()
        self.used: set[Item] = set(plan.dropped)  # what the model or the data needs
        for item in plan.items:  # also what was made with the Trainer, such as a Tuner
            self.names |= item.bound if item.used & self.names else frozenset()
        self.refuse_stars(self.start, trainer)

    def _find_start(self, call: ast.Call | None) -> ast.Call:
        """The first call that trains. Raises ScaffoldError if there is none, or it may not run."""
        if call is None or self.script.is_a(self.trainer.func, r".*CLI"):
            made, text = last(self.trainer), f"write Trainer(...) and its {self.start_word}(...)."
            raise self.script.error(self.trainer, f"what trains with {made} is not found: {text}")
        items, statement = self.plan.items, self.script.statement(call)
        places = [number for number, item in enumerate(items) if item.node is statement]
        if not places:
            text = f"{self.start_word} is called in a block (if, for, with, try), or in another "
            text += "function than the Trainer: whether and how often it runs is not known."
            raise self.script.error(call, text)
        self.result, self.after = items[places[0]].bound, items[places[0] + 1 :]
        self.measured = set(self.result)  # names of what the Trainer measured
        del items[places[0] :]
        return call

    def _find_others(self, again: dict[ast.Call, None]) -> None:
        """A TODO for each other training, unless it is of a statement after this one."""
        self.again, self.others = again, {root(call.func) for call in again}
        later = {node for item in self.after for node in ast.walk(item.node)}
        own = calls_to(self.script, self.script.source.home(self.start))
        for call in [*(call for call in again if call not in later), *own[1:]]:
            self.plan.end.append(self.plan.todo(call, AGAIN))
        for call in own[:1]:
            above = self.script.source.parents[id(self.script.statement(call))]
            if not isinstance(above, (ast.Module, ast.FunctionDef)) and not is_main(above):
                self.plan.comments.append(self.plan.todo(call, "this may not run, or run again"))

    def _find_before(self) -> list[Item]:
        """All statements before the training: those of the module, and those of its function."""
        plan, home = self.plan, self.script.source.home(self.start)
        plan.constants = plan.items
        if home is not self.script.tree:
            rows = module_items(self.script.tree)
            needs = {row: plan.definitions_of(plan.block(row.node)).values() for row in rows}
            plan.constants = [row for row, found in needs.items() if [home] not in found]
        return list({item.node: item for item in [*plan.constants, *plan.items]}.values())

    def is_trainer(self, func: ast.AST) -> bool:
        """Whether a method of the Trainer is called."""
        is_made = getattr(func, "value", None) is self.trainer
        return isinstance(func, ast.Attribute) and (is_made or root(func) in self.names)

    def needs(self, *nodes: ast.AST, without: str = "") -> str:
        """The statements that expressions need, without those that bind some name."""
        gone = {without, *self.names}
        items = [item for item in self.plan.items if item not in self.plan.dropped]
        items = [i for i in items if not (i.bound | i.used) & self.names and without not in i.bound]
        found = needed(items, used_names(*nodes) - gone, gone)
        self.used |= set(found)
        return self.plan.lines(found)

    def function(self, *rows: str) -> str:
        """The lines of a function, without those that are empty."""
        return "\n".join(row for row in rows if row)

    def with_model(self, *rows: str) -> str:
        """The lines of a function, and first the model's name in the script, if they need it."""
        name, text = self.model_name, self.function(*rows)
        is_needed = name not in ("", "model") and name in used_names(text)
        return f"{name} = model\n{text}" if is_needed else text

    def builder(self, node: ast.expr, end: str = "") -> str:
        """The lines of a function that returns an expression, to which `end` is added."""
        result = f"return {self.plan.text(node)}{end}"
        return self.with_model(self.needs(node, without=self.model_name), result)

    def returned(self, loaders: list[str]) -> str:
        return f"return {', '.join(loaders)}" + ("," if len(loaders) == 1 else "")

    def refuse(self, node: ast.AST, reason: str, name: str = "") -> None:
        """Put a TODO for an argument, or another part of a Trainer, at the top of main."""
        line = f"{name}={self.script.code(node)}" if name else ""
        if isinstance(node, ast.FunctionDef):
            line = self.script.rows[node.lineno - 1].strip()
        self.plan.comments.append(self.plan.todo(node, reason, line))

    def refuse_stars(self, *calls: ast.expr | None) -> None:
        for word in [w for call in calls for w in getattr(call, "keywords", ()) if w.arg is None]:
            self.refuse(word.value, "these arguments are not known here", "**")

    def own_methods(self, *known: str) -> dict[str, ast.FunctionDef]:
        """The methods of an own Trainer. Those that are not known become TODOs."""
        found = self.script.methods(self.script.own_class(self.trainer.func))
        for name in sorted(found.keys() - set(known)):
            self.refuse(found[name], OWN)
        return found

    def arguments_of_trainer(self, names: Sequence[str]) -> dict[str, ast.expr]:
        """The arguments of the Trainer. An own class may take others before them."""
        own = self.script.methods(self.script.own_class(self.trainer.func)).get("__init__")
        first = [part.arg for part in own.args.args[1:]] if own else []
        return words(self.trainer, [*first, *(() if own and not own.args.vararg else names)])

    def answer(self, call: ast.AST, keys: Mapping[str, str]) -> dict[str, ast.expr]:
        """Take numbers in a call as answers; returns where they stand, by setting."""
        given, found = words(call, ("", next(iter(keys)))), {}  # the first also by its place
        for word, key in keys.items():
            node, value = given.get(word), self.plan.value(given.get(word))
            if not isinstance(node, ast.Attribute | None) and type(value) in (int, float):
                self.plan.answers[f"training.{key}"] = value
                found[key] = node
        return found

    def settle(self, call: ast.AST, keys: Mapping[str, str]) -> None:
        """Let numbers in a call come from settings, unless a constant of a module is made there."""
        constants = {item.node for item in self.plan.constants}
        constants -= {item.node for item in self.plan.items}
        for key, node in self.answer(call, keys).items():
            if self.script.statement(call) not in constants:
                self.plan.edits.replace(node, f"config.{key}")


class Reader(Statements):
    """Also the statements that neither the model nor the data needs."""

    no_effect: ClassVar[Mapping[str, str]] = {}  # methods of a Trainer after training

    def read_callbacks(self, node: ast.expr | None) -> None:
        """What becomes of callbacks and loggers."""
        found = self.plan.latest(node) if node is not None else ast.List([])
        for part in getattr(found, "elts", [found]):
            call = self.plan.latest(part.value if isinstance(part, ast.Starred) else part)
            name = last(call) if "." in self.script.named(call) else ""  # of a package
            given = words(call, ORDERS.get(name, "").split())
            values = {word: self.plan.value(value) for word, value in given.items()}
            if name in table("callbacks"):
                self.plan.note(f"{name}: {table('callbacks')[name]}")
            elif isinstance(call, ast.Constant):  # True, False or None
                continue
            elif UNKNOWN in values.values() or not self.take_callback(name, values):
                self.refuse(part, "this is not carried over")

    def take_callback(self, name: str, values: Mapping[str, Any]) -> bool:
        """Answer for a callback. Returns False for one that can't be carried over."""
        return False

    def watch(self, feature: str, monitor: str, mode: str, **settings: Any) -> bool:
        """Let a feature watch a metric."""
        for name, value in {"enabled": True, "mode": mode, **settings}.items():
            self.plan.answers[f"features.{feature}.{name}"] = value
        self.plan.monitors[feature] = monitor
        return True

    def clip(self, kind: str, limit: float | None) -> None:
        self.plan.answers["features.clipping.enabled"] = bool(limit)
        if limit:
            self.plan.answers["features.clipping.kind"] = kind
            self.plan.answers[f"features.clipping.max_{kind}"] = float(limit)

    def finish(self) -> None:
        """Statements that neither the model nor the data needs, and those after the training."""
        plan, model = self.plan, self.given["model"]
        plan.model = plan.model or self.function(self.needs(model), f"return {plan.text(model)}")
        for call in self.seeds.values():
            seed = plan.value(words(call, ("seed",)).get("seed"))
            if type(seed) is int:
                plan.answers["training.seed"] = seed
        self._read_after()
        texts = [plan.model, plan.loaders, plan.optimizer, plan.scheduler, plan.step]
        texts += [plan.epoch_end]
        texts += [text for part in plan.sets.values() for text in (part.start, part.step, part.end)]
        found = plan.definitions_of(*texts, *plan.functions)
        used = {item.node for item in self.used}.union(*found.values())
        for item in self.before:
            if item.node in used or isinstance(item.node, (*DEFINITIONS, ast.Pass)):
                continue
            if item.used & self.names:
                self._refuse(item, "this uses the Trainer before training")
            elif not item.bound & self.names:
                self._keep(item)

    def _keep(self, item: Item) -> None:
        value = getattr(item.node, "value", None)
        imported = {"print", *self.script.imports}
        shows = isinstance(item.node, ast.Expr) and self._is_shown(value)
        calls = [part.value for part in ast.walk(item.node) if isinstance(part, ast.Expr)]
        quiet = all(last(call) in HARMLESS for call in calls if isinstance(call, ast.Call))
        loops = {root(part.iter) for part in ast.walk(item.node) if isinstance(part, ast.For)}
        if shows or (quiet and item.changed <= loops):
            if shows or any(isinstance(part, ast.Call) for part in ast.walk(item.node)):
                text = ast.unparse(item.node)[:60]
                self.plan.note(f"{self.script.place(item.node)}: `{text}` is not needed")
        elif self.script.named(value).startswith(QUIET) or item.used <= imported:
            self.plan.start.append(self.plan.lines([item]))
        else:
            self._leave(item, "nothing in the project needs this")

    def _is_shown(self, value: ast.expr | None) -> bool:
        """Whether a statement only shows a value, as in notebooks: `tokenizer("Hello")`."""
        bound = {name for item in self.before for name in item.bound} - {self.model_name}
        name = getattr(getattr(value, "func", None), "id", "") if words(value, ("0",)) else ""
        is_shown = not isinstance(value, ast.Call) or name in bound
        return is_shown or bool(re.match(table("code")["shown"], last(value)))

    def _shows_metrics(self, item: Item) -> bool:
        """Whether a statement only shows what the Trainer measured, or puts it in another form."""
        text, known = ast.unparse(item.node), set(self.measured)
        for name in self.names:
            known |= {name} - used_names(re.sub(rf"\b{name}\.({MEASURED})\b", "_", text))
        made = item.bound & self.others if isinstance(item.node, ast.Assign) else ()
        own = {n for n, node in self.script.definitions.items() if isinstance(node, DEFINITIONS)}
        simple = isinstance(item.node, (ast.Expr, ast.Assign, ast.Delete)) and not item.used & own
        changed = item.changed - self.script.imports.keys()
        return simple and not made and (item.used & self.unknown) | changed <= known

    def _leave(self, item: Item, reason: str) -> None:
        rows = self.plan.end if item in self.after else self.plan.comments
        rows.append(self.plan.todo(item.node, reason, self.plan.lines([item])))

    def _read_after(self) -> None:
        """What follows the training becomes a function, as far as it needs no Trainer."""
        kept: list[Item] = []
        self.unknown, known = {*self.names, *self.others, *self.result}, self.script.definitions
        self.unknown |= {n for n, node in known.items() if used_names(node) & self.unknown}
        for item in self.after:
            gone = item.bound if isinstance(item.node, ast.Delete) else item.bound & self.others
            names = item.used | item.changed | gone
            if not isinstance(item.node, DEFINITIONS) and names & self.unknown:
                self.unknown |= item.bound
                trains = not self.again.keys().isdisjoint(ast.walk(item.node))
                self._refuse(item, AGAIN if trains else "this came after training")
            elif not isinstance(item.node, ast.Pass):
                kept.append(item)
        if all(isinstance(item.node, (*DEFINITIONS, *IMPORTS)) for item in kept):
            return
        name = self.model_name or "model"
        before = self.needs(*(item.node for item in kept), without=self.model_name)
        rows = margin(self.function(before, self.plan.lines(kept)), 4)
        doc = '    """What the script did after training."""'
        more = ", config" if "config" in used_names(self.plan.lines(kept), before) else ""
        self.plan.functions.append(f"def after_training({name}{more}):\n{doc}\n{rows}")
        self.plan.end.insert(0, f"after_training(accelerator.unwrap_model(model){more})")

    def _refuse(self, item: Item, reason: str) -> None:
        value: Any = getattr(item.node, "value", item.node)
        func = getattr(value, "func", value)
        name = last(func)
        if name in self.no_effect and self.is_trainer(func):
            self.measured |= item.bound if re.match(MEASURED, name) else set()
            if reason := self.no_effect[name]:
                self.plan.note(f"trainer.{name}: {reason}")
        elif reason != AGAIN and self._shows_metrics(item):
            self.measured |= item.bound
            why = "" if isinstance(item.node, ast.Delete) else ": metrics go to metrics.jsonl"
            self.plan.note(f"`{ast.unparse(item.node)[:60]}` is not needed{why}")
        else:
            self._leave(item, reason)
