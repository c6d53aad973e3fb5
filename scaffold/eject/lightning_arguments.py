"""What Lightning's Trainer is told about hardware, callbacks and loggers, as answers."""

import ast
from collections.abc import Mapping
from typing import Any

from scaffold.eject.plan import Plan, words

PRECISIONS: dict[object, str] = {
    **dict.fromkeys(("32-true", "32", 32, None), "no"),
    **dict.fromkeys(("16-mixed", "16", 16), "fp16"),
    **dict.fromkeys(("bf16-mixed", "bf16"), "bf16"),
}
WITHOUT_EFFECT = {
    "LearningRateMonitor": "the log says the learning rate",
    "TQDMProgressBar": "the progress bar shows in a terminal only",
    "RichProgressBar": "the progress bar shows in a terminal only",
    "ModelSummary": "the log says the number of parameters",
    "RichModelSummary": "the log says the number of parameters",
    "DeviceStatsMonitor": "`scaffold add throughput` logs the memory in use",
    "ThroughputMonitor": "`scaffold add throughput` logs it",
    "Timer": "the log says the time per step",
    "OnExceptionCheckpoint": "`scaffold add save_on_error` saves then",
}
TRACKERS = {"TensorBoardLogger": "tensorboard", "WandbLogger": "wandb", "MLFlowLogger": "mlflow"}


def take_hardware(plan: Plan, given: Mapping[str, ast.expr]) -> list[str]:
    """The answers for devices and precision. Returns comments for what can't be carried over."""
    values = {name: plan.value(node) for name, node in given.items()}
    answers, comments = plan.answers, []

    def refuse(name: str, reason: str) -> None:
        line = f"{name}={plan.script.code(given[name])}"
        comments.append(plan.todo(given[name], reason, line))

    where, devices = values.get("accelerator", "auto"), values.get("devices", "auto")
    if where == "cpu":
        answers["hardware.use_cpu"] = True
    elif where not in ("auto", "gpu", "cuda", "mps", None):
        refuse("accelerator", "set hardware.distributed_type in scaffold.toml")
    count = len(devices) if isinstance(devices, list) else devices
    count = int(count) if isinstance(count, str) and count.isdecimal() else count
    nodes = values.get("num_nodes", 1)
    if (isinstance(count, int) and count > 1) or (isinstance(nodes, int) and nodes > 1):
        answers["hardware.distributed_type"] = "MULTI_CPU" if where == "cpu" else "MULTI_GPU"
        answers["hardware.num_processes"] = max(count if isinstance(count, int) else 1, 1) * nodes
    elif count in ("auto", -1, None):
        plan.note("devices: one process; set hardware.distributed_type in scaffold.toml for more")
    elif not isinstance(count, int):
        refuse("devices", "set hardware.num_processes in scaffold.toml")
    strategy = values.get("strategy", "auto")
    if isinstance(strategy, str) and strategy.startswith("ddp"):
        if "find_unused_parameters_true" in strategy:
            answers["features.unused_parameters.enabled"] = True
    elif strategy not in ("auto", None):
        refuse("strategy", "set hardware.sharding in scaffold.toml")
    precision = values.get("precision")
    if isinstance(precision, (str, int, type(None))) and precision in PRECISIONS:
        answers["hardware.mixed_precision"] = PRECISIONS[precision]
    else:
        refuse("precision", "here are no, fp16 and bf16, with weights in 32 bits")
    return comments


def take_callbacks(plan: Plan, node: ast.expr | None) -> list[str]:
    """The answers for callbacks. Returns comments for those that can't be carried over."""
    if node is None:
        return []
    found = plan.latest(node)
    parts = found.elts if isinstance(found, (ast.List, ast.Tuple)) else [found]
    comments = []
    for part in parts:
        call = plan.latest(part)
        name = plan.script.named(call.func).rpartition(".")[2] if isinstance(call, ast.Call) else ""
        given = words(call) if isinstance(call, ast.Call) else {}
        values = {word: plan.value(value) for word, value in given.items()}
        if name in WITHOUT_EFFECT:
            plan.note(f"{name}: {WITHOUT_EFFECT[name]}")
        elif name == "ModelCheckpoint" and isinstance(values.get("monitor", ""), str | None):
            _monitor(plan, "best_model", values)
            plan.note("ModelCheckpoint: a checkpoint is saved after each epoch")
        elif name == "EarlyStopping" and isinstance(_early(plan, call, values), str):
            pass
        elif plan.value(part) is not None:
            comments.append(plan.todo(part, "this callback is not carried over"))
    return comments


def _early(plan: Plan, call: ast.expr, values: dict[str, Any]) -> str | None:
    first = plan.value(call.args[0]) if isinstance(call, ast.Call) and call.args else None
    values.setdefault("monitor", first)
    if not isinstance(values["monitor"], str):
        return None
    _monitor(plan, "early_stopping", values)
    plan.answers["features.early_stopping.patience"] = values.get("patience", 3)
    if isinstance(values.get("min_delta"), (int, float)):
        plan.answers["features.early_stopping.min_delta"] = abs(float(values["min_delta"]))
    for word in set(values) - {"monitor", "mode", "patience", "min_delta", "verbose"}:
        plan.note(f"EarlyStopping({word}=) has no effect here")
    return values["monitor"]


def _monitor(plan: Plan, feature: str, values: Mapping[str, Any]) -> None:
    if isinstance(values.get("monitor"), str):
        plan.answers[f"features.{feature}.enabled"] = True
        plan.monitors[feature] = values["monitor"]
        plan.answers[f"features.{feature}.mode"] = str(values.get("mode", "min"))


def take_logger(plan: Plan, node: ast.expr | None) -> list[str]:
    """The answer for a logger. Returns comments for one that can't be carried over."""
    if node is None or plan.value(node) in (True, False, None):
        return []
    call = plan.latest(node)
    name = plan.script.named(call.func).rpartition(".")[2] if isinstance(call, ast.Call) else ""
    if name in TRACKERS:
        plan.answers["features.tracker.enabled"] = True
        plan.answers["features.tracker.kind"] = TRACKERS[name]
    elif name == "CSVLogger":
        plan.note("CSVLogger: metrics go to metrics.jsonl")
    else:
        return [plan.todo(node, "this logger is not carried over: `scaffold explain tracker`")]
    return []
