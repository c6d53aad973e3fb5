"""Code that its owner moved into functions, classes or files, and the same in other words."""

from itertools import product

from corpus.changes import SLURM, off, on
from corpus.edit import (
    CHECKPOINT,
    CONFIG,
    TRAIN,
    Files,
    both,
    create,
    everywhere,
    move_file,
    nothing,
)
from corpus.script import add_import, after, before, cut, define, delete, replace, sub, wrap
from corpus.structure import extract, move, rename, trainer_class, without_unused_imports
from support.merges.case import WARNING, case
from support.merges.words import (
    BACKWARD,
    CLEARED,
    COUNTED,
    EMA,
    EVALUATE,
    FIRST,
    LINEAR,
    LION,
    LOGGED,
    LOOP,
    LOSS,
    MAIN,
    MIXING,
    NAN,
    NO_BEST,
    NO_CHECKPOINTS,
    NO_CLIP,
    NO_DECAY,
    NO_SCHEDULE,
    NUMBERS,
    PARTS,
    README,
    RESUME,
    SMOOTH,
    STEP,
    STEPS,
    STOP,
    TENSORBOARD,
    VALIDATE,
    WINDOW,
)

# functions

FORWARD = extract("forward", LOSS, COUNTED, "The loss.")
TAKE_STEP = extract(
    "take_step", r"(if config\.max_grad_norm:|optimizer\.step)", CLEARED, "One step."
)
BUILT = extract("build", r"train_loader, val_loader", r"optimizer = build_opt", "What is trained.")
END = extract("end_epoch", r'metrics = \{"train', r'if config\.checkpoint_unit == "ep', "Ends it.")
OWN = "build|end_epoch|forward|take_step"


# what a function no longer needs is still passed
FEWER = (r"take_step\(optimizer\)", "take_step(config, accelerator, model, optimizer)")
GIVEN = sub(*FEWER, None)
for name, edit, update, more in (
    (
        "the forward pass, then blends",
        FORWARD,
        MIXING,
        sub(r"\bforward\(", "forward(model, images, ", None),
    ),
    ("the forward pass, then smoothing", FORWARD, SMOOTH, None),
    ("the step, then no clipping", TAKE_STEP, NO_CLIP, GIVEN),
    ("the step, then no schedule", TAKE_STEP, NO_SCHEDULE, None),
    ("what is built, then other numbers", BUILT, NUMBERS, None),
    ("what is built, then no decay of norms", BUILT, NO_DECAY, None),
    ("both, then a stop on NaN", both(FORWARD, TAKE_STEP), NAN, None),
    ("the end of an epoch, then an average", END, EMA, None),
    ("the end of an epoch, then early stopping", END, STOP, None),
    ("the end of an epoch, then no best model", END, NO_BEST, None),
    (
        "the step, in a file of its own, then no clipping",
        both(TAKE_STEP, move(("take_step",), "engine.py", "The engine.")),
        NO_CLIP,
        both(sub(*FEWER), sub(*FEWER, path="engine.py")),
    ),
):
    result = both(edit, more) if more else None
    case(f"function: {name}", edit, update, result=result, passing=OWN)

# statements of several places in one function, and in one whose parameters the owner chose

END_EPOCH = """
def end_epoch(accelerator, config, epoch, progress, model, val_loader, best_model, metrics_file):
    metrics = evaluate(accelerator, model, val_loader, "val", config.limit_batches)
    best_model.update(metrics["val_accuracy"], model)
    log(f"epoch {epoch + 1}/{config.epochs} | {format_metrics(metrics)}")
    metrics_file.append(progress.step, metrics)
"""
OWN_END = both(
    cut(
        VALIDATE,
        r"metrics_file\.append\(progress\.step, metrics\)",
        "end_epoch("
        "accelerator, config, epoch, progress, model, val_loader, best_model, metrics_file)",
    ),
    define(END_EPOCH, MAIN),
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
    cut(STEP, CLEARED),
    cut(LOSS, BACKWARD, "train_step(accelerator, model, optimizer, images, labels, train_loss)"),
    define(STEP_OF, MAIN),
)
WRAPPED = both(
    replace(VALIDATE, "metrics |= validate(accelerator, model, val_loader, config)"),
    define(
        """
        def validate(accelerator, model, loader, config):
            return evaluate(accelerator, model, loader, "val", config.limit_batches)
        """,
        MAIN,
    ),
)
LOCAL = on("local_sgd")
case("moved: the end of an epoch, then evaluation by steps", OWN_END, STEPS, asks=TRAIN)
case("moved: the end of an epoch, then an average", OWN_END, EMA, asks=TRAIN)
case("moved: the end of an epoch, then local SGD", OWN_END, LOCAL, result=OWN_END, asks=TRAIN)
case("moved: evaluation in a function, then by steps", WRAPPED, STEPS)
case("moved: a training step, then a window", ONE_STEP, WINDOW, asks=TRAIN)
case("moved: a training step, then small parts", ONE_STEP, PARTS, asks=TRAIN)
case("moved: a training step, then blends", ONE_STEP, MIXING, asks=TRAIN)

# classes

TRAINER = trainer_class()
CLASSES = {
    "Trainer": TRAINER,
    "Learner with setup and run": trainer_class("Learner", "setup", "run"),
    "Trainer that calls itself this": both(TRAINER, sub(r"\bself\b", "this", None)),
}
UPDATES = {
    "an average": EMA,
    "early stopping": STOP,
    "no clipping": NO_CLIP,
    "no best model": NO_BEST,
    "a stop on NaN": NAN,
    "smoothing": SMOOTH,
    "other numbers": NUMBERS,
}
for (name, edit), (what, update) in product(CLASSES.items(), UPDATES.items()):
    case(f"class: {name}, then {what}", edit, update)
IN_A_FILE = both(TRAINER, move(("Trainer",), "trainer.py", "The trainer."))
case(
    "class: in a file of its own, then an average",
    IN_A_FILE,
    EMA,
    result=IN_A_FILE,
    asks=WARNING,
    says="train has no Ema",  # a new test replaces it there
)
case("class: in a file of its own, then no clipping", IN_A_FILE, NO_CLIP)
case(
    "class: with an own line in a method, then an average",
    both(TRAINER, after(r"self\.progress\.step \+= 1", 'log(f"own {self.progress.step}")')),
    EMA,
)

# files

for names, what, update in (
    (("build_optimizer",), "Lion", LION),
    (("build_optimizer",), "no decay of norms", NO_DECAY),
    (("build_schedule",), "a linear schedule", LINEAR),
    (("build_schedule", "build_optimizer"), "Lion", LION),
):
    edit = move(names, "parts.py", "Parts.")
    case(f"file: {' and '.join(names)} in another one, then {what}", edit, update)

# the same in other words

LOGGER = both(
    sub(r"^( +)log\(", r"\1logger.info(", None),
    add_import("import logging"),
    sub(r"^def build_schedule", "logger = logging.getLogger(__name__)\n\n\ndef build_schedule"),
    sub(r"^    log,\n", ""),
)
case("words: all is said by a logger, then a first evaluation", LOGGER, FIRST)
edit = sub(r"\bcompute_loss\b", "criterion", None)
case("words: compute_loss by another name gets a new parameter", edit, SMOOTH)
edit = both(
    replace("if __name__", 'if __name__ == "__main__":\n    main(parse_config(__doc__))', ""),
    without_unused_imports(TRAIN),
)
case("words: an import with fewer names goes with the rest", edit, NO_CHECKPOINTS)
case(
    "words: a new notebook imports what the owner renamed",
    rename("main", "fit", TRAIN),
    {"hardware.launcher": "notebook"},
)

# own lines with one right place

AVERAGE = both(
    before(LOOP, "swa = AveragedModel(accelerator.unwrap_model(model))"),
    after(STEP, "swa.update_parameters(accelerator.unwrap_model(model))"),
    add_import("from torch.optim.swa_utils import AveragedModel"),
)
RATES = after(STEP, 'rates = [group["lr"] for group in optimizer.param_groups]\nlog(rates)')
UNTIL = sub(
    r"^    for epoch in range\(progress\.epoch, config\.epochs\):$",
    "    epoch = progress.epoch - 1\n    while True:\n        epoch += 1\n"
    "        if epoch >= config.epochs:\n            break",
)
UNPACKED = sub(
    r"^( +)for images, labels in bar:$", r"\1for batch in bar:\n\1    images, labels = batch"
)
case("place: an own average beside one that comes", AVERAGE, EMA)
case("place: own rates, then no schedule", RATES, NO_SCHEDULE)
case("place: a loop with `while`, then a first evaluation", UNTIL, FIRST)
case("place: batches unpacked in the loop, then blends", UNPACKED, MIXING)

# what an update moves

EVALUATOR = both(
    sub(
        r"^def main\(",
        "class Evaluator:\n    run = staticmethod(evaluate)\n\n\ndef main(",
    ),
    sub(r"= evaluate\(", "= Evaluator.run(", None),
)
KEYWORD = both(
    sub(r"^def evaluate\((.*)\) ->", r"def evaluate(\1, quiet=False) ->"),
    sub(r"(\|= evaluate\(.*)\)$", r"\1, quiet=True)"),
)
TABLE = after(
    LOGGED, 'with open("summary.csv", "a") as table:\n    table.write(f"{metrics[\'train_loss\']}")'
)
SAME = 'evaluate(accelerator, model, val_loader, "val", config.limit_batches)'
NAMED = sub(r"^( +)metrics \|= (evaluate\(.*\))$", r"\1found = \2\n\1metrics |= found")
case("block: a name for what is measured, then an average", NAMED, EMA)
for name, edit in {
    "evaluation by a class": EVALUATOR,
    "evaluation with a keyword": KEYWORD,
    "a table of each epoch": TABLE,
    "a line that reads a metric": after(VALIDATE, "print(metrics['val_loss'])"),
    "one of two calls with a keyword": both(KEYWORD, after(RESUME, SAME)),
    "the settings by another name": rename("config", "cfg", TRAIN, function="main"),
    "a name for what is measured": NAMED,
}.items():
    case(f"moves: {name}, then by steps", edit, STEPS)
READS = after(VALIDATE, "print(metrics['train_loss'], len(metrics))")
case("moves: a line that reads all metrics, then by steps", READS, STEPS, asks=(TRAIN, WARNING))
SAID = sub(r'^    log\(f"done \| .*\n    metrics_file.*\n', "")
KEPT = sub(r'^    log\(f"done \| .*\n(    accelerator\.log.*\n)    metrics_file.*\n', r"\1")
case("moves: a call between deleted lines, then a tracker", SAID, TENSORBOARD, result=KEPT)

# what nobody uses now

edit = both(
    before(r"checkpoints = ", "own_loss = RunningLoss(accelerator)"),
    sub('"train_loss": train_loss,', '"train_loss": own_loss,'),
)
case("unused: an own variable whose last use goes", edit, NO_CHECKPOINTS, asks=(TRAIN, WARNING))

# pages

case("page: an own README, then an average", create(README, "# digits\n\nOurs.\n"), EMA)
case("page: a README of one line", create(README, "Start with `python train.py`.\n"), EMA)
LIST = sub(r"^- \*\*.*\n", "", None, path=README)
OTHERS = both(
    sub(r"^- \*\*(?!SLURM).*\n", "", None, path=README),
    sub(r"(## Features\n)\n(?=- )", r"\1", path=README),
    sub(r"runs/second`\.\n", r"\g<0>\n", path=README),
)
case("page: README's list deleted, and a new section", LIST, SLURM, result=OTHERS)

case(
    "words: a new field has its own type in a class of another name",
    rename("Config", "Args", TRAIN, CONFIG),
    TENSORBOARD,
    result=both(
        rename("Config", "Args", TRAIN, CONFIG),
        sub(r"train\.Config\(", "train.Args(", None, path="tests/test_features.py"),
    ),
)
PRINTED = sub(r'^( +)log\((f"done)', r"\1print(\2")
case("words: one line is printed, which is no rule, then a first evaluation", PRINTED, FIRST)
case(
    "words: a new script imports what the owner renamed",
    rename("Config", "Args", CONFIG),
    on("predict"),
    start=off("predict"),
    result=rename("Config", "Args", CONFIG, "predict.py"),
)
case(
    "unused: tests of checkpoints beside a renamed script",
    move_file(TRAIN, "main_train.py"),
    NO_CHECKPOINTS,
    result=both(
        move_file(TRAIN, "main_train.py"),
        sub("^import train$", "import main_train as train", path="tests/helpers.py"),
        sub("^import train$", "import main_train as train", path="tests/test_features.py"),
    ),
)
OURS = sub(r"\A", "# ours\n", path=CHECKPOINT)
HALVED = sub("^(?: {4})+", lambda found: " " * (len(found[0]) // 2), None, path=CHECKPOINT)
RENAMED = everywhere(r"\boutput_dir\b(?!\")", "out_dir")
LAID_OUT, GONE = "unused: checkpoint.py, which was only laid out", "goes with its feature"
case(f"{LAID_OUT}, {GONE}", HALVED, NO_CHECKPOINTS, result=nothing)
case(
    f"{LAID_OUT}, with a comment",
    both(HALVED, OURS),
    NO_CHECKPOINTS,
    result=nothing,
    says="checkpoint.py is deleted, with your type hints and comments.",
)
case(f"unused: checkpoint.py, in which names are others, {GONE}", RENAMED, NO_CHECKPOINTS)
CUT = "index = torch.randperm(len(images))\nimages = images[index].clone()"
SHAPE = 'size, *shape = images.shape\nif progress.step == 0:\n    log(f"{shape}")'
for name, text in {"cut": CUT, "read by their shape": SHAPE}.items():
    edit = before(LOSS, text, "main")
    result = before(r"images, others, share = mix\(", text, "main")
    case(f"place: images that are {name} come before blends", edit, MIXING, result=result)
edit = wrap(LOSS, COUNTED, "with accelerator.autocast():", "main")
result = wrap(r"images, others, share = mix", COUNTED, "with accelerator.autocast():", "main")
case("place: new lines of the forward pass go into the owner's block", edit, MIXING, result=result)
case(
    "file: evaluate in another one, with what both need, then predictions",
    move(("evaluate",), "parts.py", "Parts."),
    on("predictions"),
    result=both(
        move(("evaluate",), "parts.py", "Parts."),
        delete("predictions_file = ", path="parts.py"),
        before(
            EVALUATE,
            "predictions_file = PredictionsFile()  # filled by evaluate(), written by main()",
            path="parts.py",
        ),
    ),
)

# hints, order and imports

CONFIGS, RETURNED = sub(r"(\w+): Config\b", r"\1", None), sub(
    r"(\(.*\)) -> [\w.\[\], ]+:$", r"\1:", None
)
for name, edit, update in (
    ("config, then no decay of norms", CONFIGS, NO_DECAY),
    ("results, then smoothing", RETURNED, SMOOTH),
):
    case(f"hints: none of {name}", edit, update)
edit = both(sub(r"\bconfig: Config\b", "args", None), sub(r"\bconfig(?=[.,)]| = )", "args", None))
case("hints: config becomes args without one", edit, NO_DECAY)


def sorted_fields(files: Files) -> None:
    """The fields of Config by their names."""
    head, mark, rest = files[CONFIG].partition("class Config:\n")
    fields, end, tail = rest.partition("\n\n")
    files[CONFIG] = "".join([head, mark, "\n".join(sorted(fields.split("\n"))), end, tail])


BEHIND = sub(r"(    ema_decay: .*\n)((?:.*\n)*?    max_grad_norm: .*\n)", r"\2\1", path=CONFIG)
for name, update, result in (
    ("Lion", LION, None),
    ("other numbers", NUMBERS, None),
    ("an average", EMA, both(sorted_fields, BEHIND)),
    ("no clipping", NO_CLIP, None),
):
    case(f"order: fields by their names, then {name}", sorted_fields, update, result=result)
edit = both(
    sub(r"^(from metrics import [^)]*)\blog\b", r"\1log as say"),
    sub(r"(?<![\w.])log\(", "say(", None),
)
case("module: log imported as say, then a stop on NaN", edit, NAN)

# lines that make in two steps what a generated line did

for first, second in (
    ("found = {}", "metrics |= found"),
    ("found, extra = {}, 0", "metrics.update(found)"),
    ("first = {}\nfound = dict(first)", "metrics |= found"),
):
    edit = replace(VALIDATE, f"{first}\n{second}".format(SAME))
    case(f"steps: {first}, then an average", edit, EMA, result=edit, asks=TRAIN)
