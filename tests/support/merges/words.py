"""The answers and the statements that several cases name, and edits that several make."""

import re
from textwrap import dedent

from corpus.changes import off, on
from corpus.edit import CALLBACKS, DATA, Apply, Files, both
from corpus.script import after, before, define, replace, sub

ANSWERS, JOB, LAUNCH, PYPROJECT, README, WEIGHTS = (
    "scaffold.toml",
    "train.sbatch",
    "accelerate.yaml",
    "pyproject.toml",
    "README.md",
    "weights.py",
)

EMA, NO_EMA = on("ema"), off("ema")
WINDOW, NO_WINDOW = ({"training.gradient_accumulation_steps": n} for n in (4, 1))
TENSORBOARD, WANDB = (on("tracker", kind=kind) for kind in ("tensorboard", "wandb"))
CLIP, NO_CLIP = on("clipping"), off("clipping")
STOP, NO_STOP = on("early_stopping"), off("early_stopping")
NAN, NO_NAN = on("stop_on_nan"), off("stop_on_nan")
LINEAR, NO_SCHEDULE = {"features.schedule.kind": "linear"}, off("schedule")
NO_BEST, NO_CHECKPOINTS = off("best_model"), off("checkpoints")
BF16 = {"hardware.mixed_precision": "bf16"}
FIRST, STEPS, MIXING = on("first_evaluation"), on("evaluation_by_steps"), on("mixing")
PARTS = on("find_batch_size")
SMOOTH = {"training.label_smoothing": 0.1}
LION = {"training.optimizer": "lion"}
NO_DECAY = on("no_decay")
NUMBERS = {"training.learning_rate": 0.01, "training.weight_decay": 0.1}
FOUR = {"hardware.num_processes": 4, "hardware.distributed_type": "MULTI_GPU"}

ACCUMULATED = r"with accelerator\.accumulate\("  # around each part of a step
LOSS, COUNTED, BACKWARD = r"loss = compute_loss\(", r"train_loss\.add\(", r"accelerator\.backward\("
CLIPPED, STEP, CLEARED = (
    r"if config\.max_grad_norm: grad_norm",
    r"optimizer\.step\(",
    r"optimizer\.zero_grad\(",
)
VALIDATE, TEST, IMPROVED = (
    r"metrics \|= evaluate\(",
    r"metrics = evaluate\(",
    r"best_model\.update\(",
)
LOOP, ORDER = r"for epoch in range\(", r"train_loader\.set_epoch\("
RESUME, SAVED, LOADED = r"checkpoints\.resume\(", r"checkpoints\.save\(", r"best_model\.load\("
LOGGED = r'log\(f"epoch '
EPOCH_DONE = r"done = epoch \+"
MAIN, EVALUATE = r"def main\(", r"@torch\.no_grad\(\) def evaluate\("
METRICS_FILE = r"metrics_file = MetricsFile\("
LAST_FIELD = "resume: "
OPTIMIZERS = r"from torch\.optim import AdamW"


def literal(path: str, old: str, new: str) -> Apply:
    """A part of a text becomes another, which is there once and says only itself."""
    return sub(re.escape(old), new.replace("\\", "\\\\"), path=path)


def comment(field: str, text: str) -> Apply:
    """A field of Config has another comment, or none."""
    ending = f"  # {text}" if text else ""
    return sub(rf"^(    {field}: [^#\n]*?)  # .*", rf"\1{ending}")


def default(field: str, value: str) -> Apply:
    """A field of Config has another default."""
    return sub(rf"^(    {field}: [^=\n]*= )\S+", rf"\g<1>{value}")


def at_end(text: str) -> Apply:
    """A definition at the end of callbacks.py."""

    def apply(files: Files) -> None:
        files[CALLBACKS] += "\n\n" + dedent(text).strip("\n") + "\n"

    return apply


def crlf(*paths: str) -> Apply:
    """Newlines as Windows has them, in these files or in all."""

    def apply(files: Files) -> None:
        for path in paths or tuple(files):
            files[path] = files[path].replace("\n", "\r\n")

    return apply


FOCAL = '''
    def focal_loss(logits, labels, gamma: float = 2.0):
        """Cross entropy that counts what is already right for less."""
        losses = compute_loss(logits, labels)
        return ((1 - torch.exp(-losses)) ** gamma * losses).mean()
'''
OWN_LOSS = both(define(FOCAL), replace(LOSS, "loss = focal_loss(model(images), labels)"))
OWN_METRIC = after(VALIDATE, 'metrics["val_error"] = 1 - metrics["val_accuracy"]')
PINNED = sub(r"^( +)shuffle=True,\n", r"\g<0>\1pin_memory=True,\n", path=DATA)
FREED = after(CLEARED, "torch.cuda.empty_cache()")
THROUGHPUT = '''
    class Throughput:
        """Steps in a second."""

        def __init__(self) -> None:
            self.steps = 0

        def step(self) -> None:
            self.steps += 1
'''
OWN_CALLBACK = both(
    sub("^from callbacks import ", r"\g<0>Throughput, "),
    before(RESUME, "throughput = Throughput()"),
    before(r'if config\.checkpoint_unit == "steps"', "throughput.step()"),
)
SGD = both(
    sub(OPTIMIZERS, "from torch.optim import SGD"),
    replace(
        r"return AdamW\(",
        """
        return SGD(
            parameters,
            config.learning_rate,
            momentum=config.momentum,
            weight_decay=config.weight_decay,
        )
        """,
    ),
    after("weight_decay: ", "momentum: float = 0.9"),
    comment("weight_decay", ""),
)
WANDB_BY_HAND = both(
    after(OPTIMIZERS, "import wandb"),
    before(RESUME, 'wandb.init(project="digits", config=vars(config))'),
    after(LOGGED, "wandb.log(metrics, step=progress.step)"),
)
FINISH = '''
    def weight_groups(model):
        """No weight decay for what has one dimension."""
        decayed = [weight for weight in model.parameters() if weight.ndim > 1]
        others = [weight for weight in model.parameters() if weight.ndim <= 1]
        return [{"params": decayed}, {"params": others, "weight_decay": 0.0}]
'''
OWN_OPTIMIZER = both(
    replace(r"parameters = model\.parameters\(\)", "parameters = weight_groups(model)"),
    define(FINISH, MAIN),
)
