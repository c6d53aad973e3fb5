"""Edits after which a plain merge would be wrong without a word: each kind in several forms.

The right result of an update is the same edit, made to the new render; or, where a person has to
decide, a conflict in the file that says what to write. What a case allows says `verdict`.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from scaffold.answers.catalog import Value
from scaffold.merge.conflicts import take_side
from scaffold.merge.merge import Merged, merge_files
from scaffold.merge.semantics.names import UNDEFINED, find_faults
from scaffold.project.pristine import Pristine
from support.combinations import in_turns
from support.rendering import render_with_best as render
from support.scenarios import (
    CLIPPING,
    EMA,
    LOOP,
    LOSS,
    NO_BEST,
    NO_WINDOW,
    STOP,
    TEST,
    TRAIN,
    VALIDATE,
    WINDOW,
    ZERO_GRAD,
    Edit,
    Files,
    after,
    before,
    both,
    canonical,
    change,
    create,
    cut,
    define,
    delete,
    words,
)

SAME, ASK, CAREFUL = "the same edit of the new render", "a conflict", "either of them"


@dataclass(frozen=True)
class Case:
    name: str
    edit: Edit
    update: Mapping[str, Value]
    verdict: str
    start: Mapping[str, Value] = field(default_factory=dict)
    path: str = TRAIN
    expect: Edit | None = None

    def __str__(self) -> str:
        return self.name


CASES: list[Case] = []


def case(
    name: str,
    edit: Edit,
    update: Mapping[str, Value],
    verdict: str,
    start: Mapping[str, Value] | None = None,
    path: str = TRAIN,
    expect: Edit | None = None,
) -> None:
    CASES.append(Case(name, edit, update, verdict, start or {}, path, expect))


def merge(case: Case) -> tuple[Files, Files, Files, Merged]:
    """What was generated, the owner's files, the new render, and what comes of them."""
    base = dict(render(case.start))
    mine = dict(base)
    case.edit(mine)
    assert mine != base, "this is no edit"
    theirs = dict(render({**case.start, **case.update}))
    return base, mine, theirs, merge_files(Pristine("", {}, base), mine, theirs, "the update")


def same(files: Mapping[str, str | None], expected: Mapping[str, str]) -> list[str]:
    """The files that are not as expected."""
    there = {path: text for path, text in files.items() if text is not None}
    return sorted(
        path
        for path in there.keys() | expected.keys()
        if path not in there
        or path not in expected
        or canonical(path, there[path]) != canonical(path, expected[path])
    )


SMOOTH = {"training.label_smoothing": 0.1}
STEPS = {"features.evaluation_by_steps.enabled": True}
LION = {"training.optimizer": "lion"}
FUSED = {"training.optimizer_kernels": "fused"}
PREDICTIONS = {"features.predictions.enabled": True}
FIRST = {"features.first_evaluation.enabled": True}
MIXING = {"features.mixing.enabled": True}
LOCAL = {"features.local_sgd.enabled": True}
PARTS = {"features.find_batch_size.enabled": True}
SETS = {"features.evaluation_sets.enabled": True}

# ---- lines that go to different depths ----------------------------------------------------------

BACKWARD = "accelerator.backward(loss)"
BATCH = "progress.batch += 1"
CLIPPED = f"if config.max_grad_norm:\n    {CLIPPING}"
STEP = "optimizer.step()"
START = before(TRAIN, LOOP, "count, rows = 0, []")

for name, text in {
    "second optimizer": "head_optimizer.step()\nhead_optimizer.zero_grad()",
    "gradient noise": """
        for parameter in model.parameters():
            parameter.grad.add_(0.01 * torch.randn_like(parameter.grad))
    """,
    "first step of SAM": """
        optimizer.first_step(zero_grad=True)
        compute_loss(model(images), labels).mean().backward()
    """,
    "second loss": "accelerator.backward(0.1 * model(images).pow(2).mean())",
    "scheduler": "scheduler.step()",
    "counter": "count += 1",
    "step on a condition": "if progress.step % 10 == 0:\n    optimizer.step()",
}.items():
    case(f"depth: {name} behind backward", both(START, after(TRAIN, BACKWARD, text)), WINDOW, ASK)
    if name in ("second optimizer", "counter"):
        case(f"depth: {name} in small parts", both(START, after(TRAIN, BACKWARD, text)), PARTS, ASK)
case(
    "depth: own step behind backward",
    both(
        delete(TRAIN, f"{STEP}\n{ZERO_GRAD}"),
        after(TRAIN, BACKWARD, f"{STEP}\n{ZERO_GRAD}"),
    ),
    WINDOW,
    ASK,
)
# the gradients are complete when all parts are done: clipped before, they would be others
CLIP = "nn.utils.clip_grad_value_(model.parameters(), 0.5)"
for new, below in ((WINDOW, CLIPPED), (PARTS, "progress.batch += 1")):
    case(
        f"depth: clipping by value behind backward, {next(iter(new))}",
        after(TRAIN, BACKWARD, CLIP),
        new,
        SAME,
        expect=before(TRAIN, below, CLIP),
    )
# each part has its labels, and the counter is the owner's: only the inner loop counts all
case(
    "depth: samples counted behind backward",
    both(START, after(TRAIN, BACKWARD, "count += len(labels)")),
    WINDOW,
    CAREFUL,
    expect=both(START, after(TRAIN, BACKWARD, "count += len(labels)")),
)
for name, anchor, text in (
    ("samples behind the batch", BATCH, "count += len(labels)"),
    ("samples behind the step", ZERO_GRAD, "count += len(labels)"),
    ("a list of losses", ZERO_GRAD, "rows.append(loss.item())"),
    ("hits", STEP, "count = count + int((model(images).argmax(-1) == labels).sum())"),
    ("samples on a condition", ZERO_GRAD, "if epoch:\n    count += len(labels)"),
    ("an own average", "progress.step += 1", "own_loss.add(loss, len(images))"),
):
    case(f"depth: {name}", both(START, after(TRAIN, anchor, text)), WINDOW, ASK)
for name, text in {
    "zero_grad": ZERO_GRAD,
    "a hook": "my_hook(progress.step)",
    "a learning rate": 'optimizer.param_groups[0]["lr"] *= 0.99',
}.items():
    case(f"depth: {name} first in a step", before(TRAIN, LOSS, text), WINDOW, ASK)
for name, edit in {
    "line at the end of a step": after(TRAIN, ZERO_GRAD, "torch.cuda.empty_cache()"),
    "noise in front of the forward pass": before(TRAIN, LOSS, "images = images + 0.1"),
    "print behind the forward pass": after(TRAIN, LOSS, "print(loss.item())"),
    "penalty": after(TRAIN, LOSS, "loss = loss + 0.1 * sum(p.norm() for p in model.parameters())"),
    "clamp behind the step": after(
        TRAIN,
        STEP,
        """
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.clamp_(-1, 1)
    """,
    ),
    "print behind the step": after(TRAIN, ZERO_GRAD, "print(loss.item())"),
}.items():
    case(f"depth: {name}", edit, WINDOW, SAME)
case(
    "depth: out of the window, a line at the end of each part",
    after(TRAIN, BACKWARD, "torch.cuda.synchronize()"),
    NO_WINDOW,
    SAME,
    WINDOW,
    expect=after(TRAIN, BACKWARD, "torch.cuda.synchronize()"),
)

# ---- names of the update that the owner has given to something else -----------------------------

EPOCH_BEGINS = "train_loader.set_epoch(epoch)  # a new order in each epoch"
RESUME = "checkpoints.resume()"
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
    case(f"names: ema, {name}", before(TRAIN, RESUME, text.replace("NAME", "ema")), EMA, ASK)
for name, text in {
    "list": "sizes = [window for window in range(3)]",
    "sum": "total = sum(window for window in range(3))",
    "lambda": "size_of = lambda window: len(window)",
    "inner function": "def size_of(window):\n    return len(window)",
}.items():  # these names are not seen outside
    case(f"names: window of its own, {name}", after(TRAIN, EPOCH_BEGINS, text), WINDOW, SAME)
MAIN = "def main(config: Config) -> None:"
case(
    "names: ema as a parameter of main",
    words(TRAIN, MAIN, "def main(config: Config, ema: float = 0.9) -> None:"),
    EMA,
    ASK,
)
case("names: global ema", before(TRAIN, RESUME, "global ema\nema = 3"), EMA, ASK)
case(
    "names: a constant that main reads",
    both(define(TRAIN, "ema = 3", MAIN), before(TRAIN, RESUME, "log(str(ema))")),
    EMA,
    ASK,
)
case(
    "names: share and others of an own mixing",
    after(TRAIN, EPOCH_BEGINS, "share, others = 1, 2"),
    MIXING,
    ASK,
)
case("names: own class", define(TRAIN, "class EarlyStopping:\n    pass", MAIN), STOP, ASK)

# ---- edits stay done ----------------------------------------------------------------------------

NORM_LINE = 'if config.max_grad_norm:\n    values["grad_norm"] = float(grad_norm)'
IMPROVED = 'best_model.update(metrics["val_accuracy"], model)'
STALE = 'early_stopping.update(metrics["val_accuracy"])'


def comment_out(line: str) -> Edit:
    return change(TRAIN, line, "\n".join(f"# {row}" for row in line.splitlines()))


def remove_line(line: str) -> Edit:
    return delete(TRAIN, line)


def left_as_comment(line: str) -> Edit:
    """What evaluation by steps moves, and its owner has commented out at the end of an epoch."""
    return both(remove_line(line), before(TRAIN, "done = epoch + ...", f"# {line}"))


for how, take in {"commented out": comment_out, "deleted": remove_line}.items():
    no_clipping = both(take(CLIPPED), delete(TRAIN, NORM_LINE))
    for kind in ("value", "adaptive"):
        update: Mapping[str, Value] = {"features.clipping.kind": kind}
        case(f"undone: clipping {how}, then by {kind}", no_clipping, update, ASK)
    case(f"undone: clipping {how}, then an average", no_clipping, EMA, SAME)
    no_validation = both(take(VALIDATE), take(IMPROVED))
    stays = left_as_comment if take is comment_out else take
    no_stop, no_best = take(STALE), take(IMPROVED)
    name = f"undone: early stopping {how}, then by steps"
    case(name, no_stop, STEPS, SAME, STOP, expect=stays(STALE))
    case(f"undone: best model {how}, then by steps", no_best, STEPS, SAME, expect=stays(IMPROVED))
    own_best = after(TRAIN, VALIDATE, "keep_best(model, metrics)")
    name = f"undone: best model {how} for the owner's, then by steps"
    case(name, both(no_best, own_best), STEPS, ASK)
    case(f"undone: validation {how}, then by steps", no_validation, STEPS, ASK)
    case(f"undone: best weights {how}, then an average", take("best_model.load(model)"), EMA, SAME)
    case(f"undone: backward {how}, then a window", take(BACKWARD), WINDOW, SAME)
    case(f"undone: order of epochs {how}, then a window", take(EPOCH_BEGINS), WINDOW, SAME)
    no_test = both(
        take(TEST),
        cut(
            TRAIN,
            'log(f"done | {format_metrics(metrics)}")',
            "metrics_file.append(progress.step, metrics)",
        ),
    )
    case(f"undone: the test {how}, then its predictions", no_test, PREDICTIONS, ASK)
    case(f"undone: the test {how}, then local SGD", no_test, LOCAL, SAME)
    case(f"undone: the test {how}, then an average", no_test, EMA, CAREFUL)
for optimizer in ("RMSprop", "NAdam"):  # no new name of AdamW
    edit = both(
        words(TRAIN, "from torch.optim import AdamW", f"from torch.optim import {optimizer}"),
        words(TRAIN, "return AdamW(", f"return {optimizer}("),
    )
    for update in (LION, {"training.optimizer": "sgd"}, FUSED):
        case(f"undone: {optimizer} for AdamW, then {update}", edit, update, ASK)
case(
    "undone: own class for one of the callbacks, which goes",
    both(
        words(
            TRAIN,
            "from callbacks import BestModel",
            "from best import KeepBest",
        ),
        words(TRAIN, "= BestModel(", "= KeepBest("),
        create("best.py", "class KeepBest:\n    pass\n"),
    ),
    NO_BEST,
    ASK,
)
OWN_START = """
    metrics = evaluate(accelerator, model, val_loader, "val", config.limit_batches)
    log(f"before training | {format_metrics(metrics)}")
    metrics_file.append(progress.step, metrics)
"""
case("undone: own first evaluation", before(TRAIN, LOOP, OWN_START), FIRST, ASK)
case(
    "undone: own first evaluation elsewhere",
    after(TRAIN, RESUME, OWN_START.replace("before training", "start")),
    FIRST,
    ASK,
)
case(
    "undone: own first evaluation, on another condition",
    before(TRAIN, LOOP, "if not config.resume:" + OWN_START.replace("\n", "\n    ")),
    FIRST,
    ASK,
)

# ---- code that moved ----------------------------------------------------------------------------

END_EPOCH = """
def end_epoch(accelerator, config, epoch, progress, model, val_loader, best_model, metrics_file):
    metrics = evaluate(accelerator, model, val_loader, "val", config.limit_batches)
    best_model.update(metrics["val_accuracy"], model)
    log(f"epoch {epoch + 1}/{config.epochs} | {format_metrics(metrics)}")
    metrics_file.append(progress.step, metrics)
"""
END = both(
    cut(
        TRAIN,
        VALIDATE,
        "metrics_file.append(progress.step, metrics)",
        "end_epoch("
        "accelerator, config, epoch, progress, model, val_loader, best_model, metrics_file)",
    ),
    define(TRAIN, END_EPOCH, MAIN),
)
STEP_OF = """
def train_step(accelerator, model, optimizer, images, labels, train_loss):
    loss = compute_loss(model(images), labels).mean()
    train_loss.add(loss, len(labels))
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
"""
ONE_STEP = both(
    delete(TRAIN, f"{STEP}\n{ZERO_GRAD}"),
    cut(
        TRAIN,
        LOSS,
        BACKWARD,
        "train_step(accelerator, model, optimizer, images, labels, train_loss)",
    ),
    define(TRAIN, STEP_OF, MAIN),
)
WRAPPED = both(
    change(TRAIN, VALIDATE, "metrics |= validate(accelerator, model, val_loader, config)"),
    define(
        TRAIN,
        """
        def validate(accelerator, model, loader, config):
            return evaluate(accelerator, model, loader, "val", config.limit_batches)
        """,
        MAIN,
    ),
)
case("moved: the end of an epoch, then evaluation by steps", END, STEPS, ASK)
case("moved: the end of an epoch, then an average", END, EMA, CAREFUL)
case("moved: the end of an epoch, then local SGD", END, LOCAL, CAREFUL)
case("moved: evaluation in a function, then by steps", WRAPPED, STEPS, SAME)
case("moved: a training step, then a window", ONE_STEP, WINDOW, ASK)
case("moved: a training step, then small parts", ONE_STEP, PARTS, ASK)
case("moved: a training step, then blends", ONE_STEP, MIXING, ASK)

# ---- keywords go into calls of ours -----------------------------------------------------------

CROSS_ENTROPY = 'return F.cross_entropy(logits, labels, reduction="none")'
for name, text in {
    "nll": 'return F.nll_loss(F.log_softmax(logits, -1), labels, reduction="none")',
    "mse": 'return F.mse_loss(logits, F.one_hot(labels, 10).float(), reduction="none")',
    "criterion": "return criterion(logits, labels)",
    "focal": 'return focal_loss(logits, labels, reduction="none")',
    "model": "return logits.loss",
}.items():
    case(
        f"keywords: loss of {name}, then smoothing", words(TRAIN, CROSS_ENTROPY, text), SMOOTH, ASK
    )
for name, text in {
    "focal": "loss = focal(model(images), labels).mean()",
    "criterion": "loss = criterion(model(images), labels)",
    "nll": "loss = F.nll_loss(model(images), labels)",
    "model": "loss = model(images, labels=labels).loss",
    "module": "loss = losses.compute_loss(model(images), labels).mean()",
}.items():
    edit = change(TRAIN, LOSS, text)
    case(f"keywords: {name} in the loop, then smoothing", edit, SMOOTH, ASK)
    case(f"keywords: {name} in the loop, then blends", edit, MIXING, ASK)
    case(f"keywords: {name} in the loop, then a window", edit, WINDOW, SAME)
ADAMW = "return AdamW(parameters, lr=config.learning_rate, weight_decay=config.weight_decay)"
for name, text in {
    "SAM": "return SAM(parameters, AdamW, lr=config.learning_rate)",
    "RMSprop": "return torch.optim.RMSprop(parameters, config.learning_rate)",
    "own": ADAMW.replace("AdamW", "OwnAdam"),
    "8 bits": ADAMW.replace("AdamW", "bnb.optim.AdamW8bit"),
}.items():
    case(f"keywords: {name} as optimizer, then fused", words(TRAIN, ADAMW, text), FUSED, ASK)
    case(f"keywords: {name} as optimizer, then Lion", words(TRAIN, ADAMW, text), LION, ASK)
case(
    "keywords: own keyword of the optimizer, then fused",
    words(TRAIN, ADAMW, ADAMW.replace(")", ", eps=1e-6)")),
    FUSED,
    SAME,
    expect=words(TRAIN, "fused=True)", "fused=True, eps=1e-6)"),
)
case(
    "keywords: own arguments of evaluate, then by steps",
    both(
        words(TRAIN, "loader, name, limit=0)", "loader, name, limit=0, *, verbose)"),
        change(TRAIN, VALIDATE, VALIDATE.replace(")", ", verbose=True)")),
        change(TRAIN, TEST, TEST.replace(")", ", verbose=False)")),
    ),
    STEPS,
    SAME,
)
case(
    "keywords: another class in a call, whose arguments grow",
    words(TRAIN, "checkpoints = Checkpoints(", "checkpoints = OwnCheckpoints("),
    EMA,
    SAME,
)

# ---- both sides of one place --------------------------------------------------------------------

PENALTY = both(
    before(TRAIN, LOSS, "images.requires_grad_(True)"),
    change(
        TRAIN,
        LOSS,
        """
        logits = model(images)
        loss = compute_loss(logits, labels).mean()
        (slope,) = torch.autograd.grad(loss, images, create_graph=True)
        loss = loss + 0.1 * slope.pow(2).sum()
    """,
    ),
)
case("together: a penalty of gradients, then blends", PENALTY, MIXING, ASK)
case(
    "together: logits of the loop, then blends",
    change(TRAIN, LOSS, "logits = model(images)\nloss = compute_loss(logits, labels).mean()"),
    MIXING,
    SAME,
    expect=lambda files: None,  # that is what blends need, too
)
case(
    "together: a loss of two parts, then blends",
    after(TRAIN, LOSS, "loss = loss + compute_loss(model(images.flip(-1)), labels).mean()"),
    MIXING,
    SAME,
    expect=after(
        TRAIN,
        "loss = compute_loss(logits, targets).mean()",
        "loss = loss + compute_loss(model(images.flip(-1)), labels).mean()",
    ),
)

# ---- job scripts --------------------------------------------------------------------------------

SLURM = {"hardware.launcher": "slurm"}
JOB = "train.sbatch"
MEMORY = {"slurm.memory": "32G"}
for text, update, verdict in (
    ("#SBATCH --mem=64G", MEMORY, ASK),
    ("#SBATCH --mem 64G", MEMORY, ASK),
    ("#SBATCH -p gpu", {"slurm.partition": "long"}, ASK),
    ("#SBATCH --account=me", {"slurm.account": "you"}, ASK),
    ("#SBATCH --array=0-3", {"slurm.seeds": 3}, ASK),
    ("#SBATCH -t 3:00:00", {"slurm.time": "08:00:00"}, ASK),
    ("#SBATCH --mem=32G", MEMORY, SAME),
    ("#SBATCH --mail-type=END", MEMORY, SAME),
    ("#SBATCH --exclusive", {"slurm.partition": "long"}, SAME),
    ("export NCCL_DEBUG=INFO", MEMORY, SAME),
):
    edit = after(JOB, "#SBATCH --requeue", text)
    expect = both(delete(JOB, text), edit) if text == "#SBATCH --mem=32G" else None
    case(f"job: {text}, then {update}", edit, update, verdict, SLURM, JOB, expect)


@pytest.mark.parametrize("case", in_turns(CASES, 11), ids=str)
def test_edit(case: Case) -> None:
    base, mine, theirs, merged = merge(case)
    files = {path: text for path, text in merged.files.items() if text is not None}
    conflicts = {conflict.path for conflict in merged.conflicts}
    if case.verdict == ASK or (case.verdict == CAREFUL and conflicts):
        assert case.path in conflicts, "nothing is asked"
        for path, text in mine.items():
            own = rows(text) - rows(base.get(path, ""))
            assert own <= rows(files.get(path, text)), "an edit is lost"
        assert_own_side_is_whole(base, mine, files)
        return
    assert not conflicts, merged.conflicts
    expected = dict(theirs)
    (case.expect or case.edit)(expected)
    assert same(files, expected) == []


def assert_own_side_is_whole(base: Files, mine: Files, merged: Files) -> None:
    """With "yours" taken everywhere, no line that came needs one that did not."""
    for path, text in merged.items():
        if not path.endswith(".py") or text == base.get(path):
            continue
        now = {
            fault for fault in find_faults(take_side(text, ours=True)) if fault.kind == UNDEFINED
        }
        assert now <= set(find_faults(mine.get(path, ""))), path


def rows(text: str) -> set[str]:
    return {row.strip() for row in text.splitlines()}


# ---- what is changed throughout a file -----------------------------------------------------------


def without_comments(files: Files) -> None:
    rows = [row for row in files[TRAIN].splitlines() if not row.strip().startswith("#")]
    files[TRAIN] = "".join(f"{row.partition('  # ')[0]}\n" for row in rows)


def other_comments(files: Files) -> None:
    files[TRAIN] = re.sub(r"(?m)(^ *|  )# .*$", r"\1# auf Deutsch", files[TRAIN])


FROM = re.compile(r"(?m)^from (\S+) import (\([^)]*\)|.+)$")


def star_imports(files: Files) -> None:
    def shorten(found: re.Match[str]) -> str:
        return f"from {found[1]} import *" if f"{found[1]}.py" in files else found[0]

    files[TRAIN] = FROM.sub(shorten, files[TRAIN])


def main_in_a_class(files: Files) -> None:
    head, rest = files[TRAIN].split(MAIN)
    body, foot = rest.split("\n\n\nif __name__")
    lines = [f"    {row}" if row else row for row in body.splitlines()]
    files[TRAIN] = "".join(
        (
            f"{head}class Trainer:\n    def run(self, config: Config) -> None:",
            "\n".join(lines),
            "\n\n\nif __name__",
            foot.replace("main(config)", "Trainer().run(config)"),
        )
    )


STYLES = (without_comments, other_comments, star_imports, main_in_a_class)
UPDATES: Mapping[str, Mapping[str, Value]] = {
    "average": EMA,
    "bf16": {"hardware.mixed_precision": "bf16"},
    "window": WINDOW,
    "early stopping": STOP,
    "tracker": {"features.tracker.enabled": True, "features.tracker.kind": "tensorboard"},
    "no clipping": {"features.clipping.enabled": False},
    "no best model": NO_BEST,
    "linear schedule": {"features.schedule.kind": "linear"},
    "Lion": LION,
}


@pytest.mark.parametrize("update", in_turns(UPDATES, 3))
@pytest.mark.parametrize("style", STYLES, ids=lambda style: str(style.__name__))
def test_a_style_is_no_conflict(style: Edit, update: str) -> None:
    base, _, theirs, merged = merge(Case("", style, UPDATES[update], SAME))
    assert not merged.conflicts
    known = {path: text for path, text in theirs.items() if path in base}
    style(known)
    theirs |= known
    script = merged.files[TRAIN] or ""
    assert {ast.dump(node) for node in ast.parse(script).body} == {
        ast.dump(node) for node in ast.parse(theirs[TRAIN]).body
    }
    for path in theirs.keys() - {TRAIN}:
        assert merged.files[path] == theirs[path]
