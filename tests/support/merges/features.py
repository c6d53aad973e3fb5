"""What the owner has already, takes out or makes use of, when the update brings or takes it."""

import re

from corpus.changes import off, on
from corpus.edit import (
    CALLBACKS,
    CHECKPOINT,
    CONFIG,
    TRAIN,
    Apply,
    Files,
    append,
    both,
    create,
    nothing,
)
from corpus.script import after, before, comment_out, cut, define, delete, replace, sub
from corpus.structure import formatted
from support.merges.case import WARNING, case
from support.merges.lines import PROFILED
from support.merges.whole_files import CFG, INTO_SRC, NET, TORCHMETRICS
from support.merges.words import (
    BACKWARD,
    BF16,
    CLIP,
    CLIPPED,
    EMA,
    FIRST,
    IMPROVED,
    LAST_FIELD,
    LINEAR,
    LION,
    LOADED,
    LOGGED,
    LOOP,
    LOSS,
    MAIN,
    METRICS_FILE,
    MIXING,
    NAN,
    NO_BEST,
    NO_CLIP,
    NO_EMA,
    NO_NAN,
    NO_SCHEDULE,
    NO_STOP,
    NO_WINDOW,
    OPTIMIZERS,
    ORDER,
    OWN_CALLBACK,
    OWN_LOSS,
    OWN_METRIC,
    OWN_OPTIMIZER,
    PINNED,
    README,
    RESUME,
    SGD,
    SMOOTH,
    STEP,
    STEPS,
    STOP,
    TEST,
    THROUGHPUT,
    VALIDATE,
    WANDB_BY_HAND,
    WEIGHTS,
    WINDOW,
    at_end,
    crlf,
    default,
    literal,
)
from support.rendering import render_with_best as render

# already there by hand


def clipped(call: str) -> str:
    return f"accelerator.clip_grad_norm_(model.parameters(), {call})"


def by_hand(start: str, anchor: str) -> Apply:
    """A setting as the default project has it, in front of another."""

    def apply(files: Files) -> None:
        (row,) = re.findall(rf"^    ({start}.*)", render({})[CONFIG], re.MULTILINE)
        before(anchor, row, path=CONFIG)(files)

    return apply


CLIPPING = before(
    STEP, f"if config.max_grad_norm:\n    grad_norm = {clipped('config.max_grad_norm')}"
)
edit = both(
    by_hand("max_grad_norm: ", "warmup_ratio: "),
    CLIPPING,
    before(
        r"metrics_file\.append\(progress\.step, values\)",
        'if config.max_grad_norm:\n    values["grad_norm"] = float(grad_norm)',
    ),
)
case("by hand: the option's own lines", edit, CLIP, start=NO_CLIP, result=nothing)
edit = before(r"schedule\.step\(", clipped("0.5"))
case("by hand: the same call with another value", edit, CLIP, start=NO_CLIP, asks=TRAIN)
edit = after(BACKWARD, clipped("0.5"))
case("by hand: the same call at another place", edit, CLIP, start=NO_CLIP, asks=TRAIN)
for place, anchor in (
    ("with another value", "keep_checkpoints: "),
    ("at another place", "limit_batches: "),
):
    edit = both(after(anchor, "max_grad_norm: float = 0.5"), CLIPPING)
    case(f"by hand: the same field {place}", edit, CLIP, start=NO_CLIP, asks=CONFIG)
AVERAGED = both(
    after(OPTIMIZERS, "from torch.optim.swa_utils import AveragedModel"),
    before(METRICS_FILE, "ema = AveragedModel(accelerator.unwrap_model(model))"),
    after(r"optimizer\.zero_grad\(", "ema.update_parameters(model)"),
)
case("by hand: an average of the owner's own", AVERAGED, EMA, asks=TRAIN)
edit = default("batch_size", "64")
case("by hand: the value that the update sets", edit, {"training.batch_size": 64}, result=nothing)
case(
    "by hand: another value than the update sets",
    default("learning_rate", "0.003"),
    {"training.learning_rate": 0.01},
    asks=CONFIG,
)
NO_STOP_CALL = delete(r"early_stopping\.update\(")
STOPPED = both(
    delete(r"if early_stopping\.should_stop:"),
    NO_STOP_CALL,
    delete(r"early_stopping = EarlyStopping\("),
    sub(", EarlyStopping", ""),
    cut("patience: ", "min_delta: "),
    sub('"early_stopping": early_stopping,', ""),
    formatted(TRAIN),
)
case("by hand: a feature taken out, then turned off", STOPPED, NO_STOP, result=nothing, start=STOP)
case("by hand: a feature taken out, where lines are indented", STOPPED, EMA, start=STOP)
case(
    "by hand: a call taken out of a feature, then turned off",
    delete(r"stop_on_nan\(values"),
    NO_NAN,
    result=nothing,
    start=NAN,
)

# a feature goes that its owner has changed or makes use of

edit = sub(r"accelerator\.clip_grad_norm_\(", "torch.nn.utils.clip_grad_value_(")
case("goes: a changed call", edit, NO_CLIP, asks=TRAIN)
edit = literal(CALLBACKS, "if score > self.best +", "if score >= self.best +")
case("goes: a changed class", edit, NO_STOP, start=STOP, asks=CALLBACKS)
SHORTER = literal(TRAIN, "return 0.5 * (1 + cos", "return 0.45 * (1.1 + cos")
case("goes: a changed function", SHORTER, NO_SCHEDULE, asks=TRAIN)
case("goes: a function whose body both change", SHORTER, LINEAR, asks=TRAIN)
edit = after(LOADED, 'log(f"{metrics_file.size} bytes of metrics")')
case("goes: an object that own code uses", edit, off("metrics_file"), asks=TRAIN)
edit = both(
    sub("^from weights import ", r"\g<0>load_weights, "),
    after(RESUME, 'load_weights(accelerator, model, Path("pretrained.safetensors"))'),
)
case("goes: a function that own code calls", edit, NO_BEST, asks=(TRAIN, WEIGHTS))
EXPORT = create("export.py", "from weights import load_weights\n\nprint(load_weights)\n")
case(
    "goes: a function that an own file imports, so it stays",
    EXPORT,
    NO_BEST,
    result=both(EXPORT, lambda files: files.update({WEIGHTS: render({})[WEIGHTS]})),
    says="weights.py keeps load_weights, because export.py uses it.",
)
edit = after(r"check_environment\(", 'accelerator.print(f"patience {config.patience}")')
case("goes: a field that own code reads", edit, NO_STOP, start=STOP, asks=CONFIG)
edit = both(
    sub("from callbacks import BestModel", "from best import KeepBest"),
    sub(r"= BestModel\(", "= KeepBest("),
    create("best.py", "class KeepBest:\n    pass\n"),
)
case("undone: own class for one of the callbacks, which goes", edit, NO_BEST, asks=TRAIN)

# names of the update that the owner has given to something else

BINDINGS = {
    "list": "NAME = []",
    "annotation": "NAME: list = []",
    "tuple": "NAME, others = [], []",
    "star": "first, *NAME = [1, 2]",
    "for": 'for NAME in ("a", "b"):\n    log(NAME)',
    "enumerate": 'for key, NAME in enumerate("ab"):\n    log(NAME)',
    "with": "with open(__file__) as NAME:\n    log(NAME.name)",
    "import": "import math as NAME",
    "from": "from math import pi as NAME",
    "walrus": "log(str(NAME := 3))",
    "walrus in a list": "log(str([NAME := 3 for _ in range(2)]))",
    "except": 'try:\n    log("")\nexcept OSError as NAME:\n    log(str(NAME))',
    "match": "match config.epochs:\n    case NAME:\n        log(str(NAME))",
    "match of a list": "match [1, 2]:\n    case [_, *NAME]:\n        log(str(NAME))",
    "function": "def NAME(value):\n    return value",
    "class": "class NAME:\n    pass",
    "sum": "NAME = 0\nNAME += 1",
    "del": "NAME = 1\nlog(str(NAME))\ndel NAME",
}
for name, text in BINDINGS.items():
    case(f"taken: ema, {name}", before(RESUME, text.replace("NAME", "ema")), EMA, asks=TRAIN)
for name, text in {
    "list": "sizes = [window for window in range(3)]",
    "sum": "total = sum(window for window in range(3))",
    "lambda": "size_of = lambda window: len(window)",
    "inner function": "def size_of(window):\n    return len(window)",
}.items():  # these names are not seen outside
    case(f"taken: window of its own, {name}", after(ORDER, text), WINDOW)
for name, edit, update in (
    (
        "ema as a parameter of main",
        literal(TRAIN, "main(config: Config)", "main(config: Config, ema: float = 0.9)"),
        EMA,
    ),
    ("global ema", before(RESUME, "global ema\nema = 3"), EMA),
    (
        "a constant that main reads",
        both(define("ema = 3", MAIN), before(RESUME, "log(str(ema))")),
        EMA,
    ),
    (
        "share and others of an own mixing",
        both(after(ORDER, "share, others = 1, 2"), after(LOGGED, "log(str(share + others))")),
        MIXING,
    ),
    ("own class", define("class EarlyStopping:\n    pass", MAIN), STOP),
):
    case(f"taken: {name}", edit, update, asks=TRAIN)

# edits stay done

LOCAL = on("local_sgd")
NORM = r"if config\.max_grad_norm: values"
STALE = r"early_stopping\.update\("


for how, take in {
    "commented out": lambda pattern: comment_out(pattern),
    "deleted": lambda pattern: delete(pattern),
}.items():
    no_clipping = both(take(CLIPPED), delete(NORM))
    for kind in ("value", "adaptive"):
        update = {"features.clipping.kind": kind}
        case(f"undone: clipping {how}, then by {kind}", no_clipping, update, asks=TRAIN)
    case(f"undone: clipping {how}, then an average", no_clipping, EMA)
    case(f"undone: early stopping {how}, then by steps", take(STALE), STEPS, start=STOP)
    case(f"undone: best model {how}, then by steps", take(IMPROVED), STEPS)
    own_best = both(take(IMPROVED), after(VALIDATE, "keep_best(model, metrics)"))
    case(f"undone: best model {how} for the owner's, then by steps", own_best, STEPS, asks=WARNING)
    no_validation = both(take(VALIDATE), take(IMPROVED))
    case(f"undone: validation {how}, then by steps", no_validation, STEPS, asks=TRAIN)
    case(f"undone: best weights {how}, then an average", take(LOADED), EMA)
    case(f"undone: backward {how}, then a window", take(BACKWARD), WINDOW)
    case(f"undone: order of epochs {how}, then a window", take(ORDER), WINDOW)
    no_test = both(
        take(TEST),
        cut(r'log\(f"done', r"metrics_file\.append\(progress\.step, metrics\)", "", "main"),
    )
    case(f"undone: the test {how}, then its predictions", no_test, on("predictions"), asks=TRAIN)
    case(f"undone: the test {how}, then local SGD", no_test, LOCAL)
    case(f"undone: the test {how}, then an average", no_test, EMA, result=no_test, asks=TRAIN)
FUSED = {"training.optimizer_kernels": "fused"}
for optimizer in ("RMSprop", "NAdam"):  # no new name of AdamW
    edit = both(
        sub(OPTIMIZERS, f"from torch.optim import {optimizer}"),
        sub(r"return AdamW\(", f"return {optimizer}("),
    )
    for update in (LION, {"training.optimizer": "sgd"}, FUSED):
        case(f"undone: {optimizer} for AdamW, then {update}", edit, update, asks=TRAIN)
OWN_START = """
    metrics = evaluate(accelerator, model, val_loader, "val", config.limit_batches)
    log(f"before training | {format_metrics(metrics)}")
    metrics_file.append(progress.step, metrics)
"""
for where, edit in {
    "": before(LOOP, OWN_START),
    " elsewhere": after(RESUME, OWN_START.replace("before training", "start")),
    ", on another condition": before(
        LOOP, "if not config.resume:" + OWN_START.replace("\n", "\n    ")
    ),
}.items():
    case(f"undone: own first evaluation{where}", edit, FIRST, asks=TRAIN)

# keywords go into calls of ours

for name, text in {
    "nll": 'return F.nll_loss(F.log_softmax(logits, -1), labels, reduction="none")',
    "mse": 'return F.mse_loss(logits, F.one_hot(labels, 10).float(), reduction="none")',
    "criterion": "return criterion(logits, labels)",
    "focal": 'return focal_loss(logits, labels, reduction="none")',
    "model": "return logits.loss",
}.items():
    edit = replace(r"return F\.cross_entropy\(", text)
    case(f"keywords: loss of {name}, then smoothing", edit, SMOOTH, asks=TRAIN)
for name, text in {
    "focal": "loss = focal(model(images), labels).mean()",
    "criterion": "loss = criterion(model(images), labels)",
    "nll": "loss = F.nll_loss(model(images), labels)",
    "model": "loss = model(images, labels=labels).loss",
    "module": "loss = losses.compute_loss(model(images), labels).mean()",
}.items():
    edit = replace(LOSS, text)
    case(f"keywords: {name} in the loop, then smoothing", edit, SMOOTH, asks=TRAIN)
    case(f"keywords: {name} in the loop, then blends", edit, MIXING, asks=TRAIN)
    case(f"keywords: {name} in the loop, then a window", edit, WINDOW)
ADAMW, GIVEN = r"return AdamW\(", "lr=config.learning_rate, weight_decay=config.weight_decay)"
for name, text in {
    "SAM": "return SAM(parameters, AdamW, lr=config.learning_rate)",
    "RMSprop": "return torch.optim.RMSprop(parameters, config.learning_rate)",
    "own": f"return OwnAdam(parameters, {GIVEN}",
    "8 bits": f"return bnb.optim.AdamW8bit(parameters, {GIVEN}",
}.items():
    edit = replace(ADAMW, text)
    case(f"keywords: {name} as optimizer, then fused", edit, FUSED, asks=TRAIN)
    case(f"keywords: {name} as optimizer, then Lion", edit, LION, asks=TRAIN)
edit = sub(rf"({ADAMW}.*)\)", r"\1, eps=1e-6)")
result = sub(r"fused=True\)", "fused=True, eps=1e-6)")
case("keywords: own keyword of the optimizer, then fused", edit, FUSED, result=result)
case(
    "keywords: own clipping whose result becomes a number, then clipping",
    before(STEP, f"norm = float({clipped('0.5')})"),
    CLIP,
    start=NO_CLIP,
    asks=TRAIN,
)
edit = both(
    sub(r"loader, name, limit=0\)", "loader, name, limit=0, *, verbose)"),
    sub(rf"({VALIDATE}.*)\)", r"\1, verbose=True)"),
    sub(rf"({TEST}.*)\)", r"\1, verbose=False)"),
)
case("keywords: own arguments of evaluate, then by steps", edit, STEPS)
edit = sub(r"checkpoints = Checkpoints\(", "checkpoints = OwnCheckpoints(")
case("keywords: another class in a call, whose arguments grow", edit, EMA)

# both sides of one place

LOGITS = "logits = model(images)\nloss = compute_loss(logits, labels).mean()"
PENALTY = both(
    before(LOSS, "images.requires_grad_(True)"),
    replace(
        LOSS,
        f"{LOGITS}\n(slope,) = torch.autograd.grad(loss, images, create_graph=True)\n"
        "loss = loss + 0.1 * slope.pow(2).sum()",
    ),
)
case("together: a penalty of gradients, then blends", PENALTY, MIXING, asks=TRAIN)
case(
    "together: logits of the loop, then blends",
    replace(LOSS, LOGITS),
    MIXING,
    result=nothing,  # that is what blends need, too
)
edit = after(LOSS, "loss = loss + compute_loss(model(images.flip(-1)), labels).mean()")
case("together: a loss of two parts, then blends", edit, MIXING)

# several at once

COMPILED = both(
    after(LAST_FIELD, "compile: bool = False"),
    after(r"model = build_model\(", "if config.compile:\n    model = torch.compile(model)"),
)
LOSS_AND_METRIC = both(OWN_LOSS, OWN_METRIC)
case("several: loss, metric, field", both(LOSS_AND_METRIC, COMPILED), EMA)
case("several: loss, metric, field, in a window", both(LOSS_AND_METRIC, COMPILED), WINDOW)
edit = both(LOSS_AND_METRIC, SGD, TORCHMETRICS)
case("several: two features at once", edit, {**EMA, **BF16, **on("learning_curves")})
OTHERS = both(
    SGD, at_end(THROUGHPUT), TORCHMETRICS, append(README, "\n## Results\n\nSoon.\n"), OWN_CALLBACK
)
CREATED = "throughput = Throughput()"
case(
    "several: optimizer, callback, dependency, README",
    OTHERS,
    {**on("learning_curves"), **BF16},
    also=[
        both(
            OTHERS,
            delete(r"throughput = Throughput\("),
            before(r"learning_curves = LearningCurves\(", CREATED),
        )
    ],
    start=NAN,
)
edit = both(OWN_LOSS, after(LOGGED, 'log(f"{epoch=}")'), PROFILED)
case("several: profiler, loss, log line, in a window", edit, {**WINDOW, **EMA})
edit = both(OWN_LOSS, NET, CFG, formatted(TRAIN, length=88))
case("several: names, loss, 88 characters", edit, EMA)
edit = both(PINNED, INTO_SRC, OWN_LOSS, crlf(TRAIN, "src/data.py"))
case("several: moved, Windows newlines, loss", edit, {**on("augmentation"), **WINDOW})
case(
    "several: edits, then three features go",
    both(LOSS_AND_METRIC, COMPILED, WANDB_BY_HAND),
    {**NO_STOP, **NO_NAN, **NO_CLIP},
    start={**STOP, **NAN},
)
edit = both(LOSS_AND_METRIC, SGD)
case("several: one feature after the other", edit, EMA, WINDOW, NO_STOP, start=STOP)
edit = both(LOSS_AND_METRIC, SGD, COMPILED)
case("several: there and back", edit, {**EMA, **WINDOW}, {**NO_EMA, **NO_WINDOW})
case(
    "several: preemption goes, checkpoints edited",
    both(
        sub(r'(f"checkpoint_\{self\.progress\.step:)08d', r"\g<1>010d", path=CHECKPOINT),
        before(r"self\.states = ", "self.count = 0", path=CHECKPOINT),
        after(r"self\.accelerator\.save_state\(scratch\)", "self.count += 1", path=CHECKPOINT),
    ),
    {**off("preemption"), **NO_NAN},
    start={**on("preemption"), **NAN},
)
case("several: the best model goes, loss, optimizer", both(OWN_LOSS, SGD, COMPILED), NO_BEST)
case(
    "several: another schedule with its own answers",
    both(LOSS_AND_METRIC, OWN_OPTIMIZER),
    {"features.schedule.kind": "one_cycle"},
)
