"""Files laid out anew, with other names, moved, deleted; and files that are no code."""

import re
import subprocess
import sys
from functools import cache

from corpus.changes import SLURM, off, on
from corpus.edit import (
    CALLBACKS,
    CHECKPOINT,
    CONFIG,
    METRICS,
    TRAIN,
    Apply,
    Files,
    append,
    both,
    create,
    find,
    in_tests,
    move_file,
    nothing,
    remove,
    splice,
)
from corpus.script import after, sub
from corpus.structure import formatted, move_below, rename
from support.merges.case import case
from support.merges.words import (
    ANSWERS,
    EMA,
    FOUR,
    JOB,
    LAUNCH,
    LINEAR,
    NO_CLIP,
    NO_STOP,
    NUMBERS,
    OWN_LOSS,
    OWN_METRIC,
    PINNED,
    PYPROJECT,
    README,
    STOP,
    TENSORBOARD,
    WANDB,
    WINDOW,
    crlf,
    literal,
)


def single_quotes(line_length: int, *paths: str) -> Apply:
    """Ruff's formatter with single quotes."""

    def apply(files: Files) -> None:
        for path in paths:
            files[path] = _ruff(files[path], line_length)

    return apply


@cache
def _ruff(text: str, line_length: int) -> str:
    options = ["--isolated", "--no-cache", f"--line-length={line_length}"]
    quotes = "--config=format.quote-style='single'"
    command = [sys.executable, "-m", "ruff", "format", *options, quotes, "-"]
    return subprocess.run(command, input=text, text=True, capture_output=True, check=True).stdout


def two_spaces(files: Files) -> None:
    """Also inside brackets and docstrings."""
    files[TRAIN] = re.sub("(?m)^ +", lambda match: match[0][::2], files[TRAIN])


# dialect

case("dialect: 79 characters, the average", formatted(TRAIN, CALLBACKS, length=79), EMA)
case("dialect: 88 characters, a window", formatted(TRAIN, length=88), WINDOW)
case("dialect: 79 characters, a tracker", formatted(TRAIN, length=79), TENSORBOARD)
edit = formatted(length=120)
case("dialect: 120 characters everywhere, early stopping goes", edit, NO_STOP, start=STOP)
case("dialect: single quotes, the average", single_quotes(100, TRAIN, CALLBACKS), EMA)
case("dialect: single quotes and 88 characters, a tracker", single_quotes(88, TRAIN), WANDB)
case("dialect: two spaces, the average", two_spaces, EMA)
case("dialect: two spaces, a window", two_spaces, WINDOW)
case("dialect: Windows newlines in one file", crlf(TRAIN), EMA)
case("dialect: Windows newlines in all files", crlf(), {**EMA, **WINDOW})
case("dialect: Windows newlines and an edit", both(OWN_METRIC, crlf(TRAIN)), EMA)
edit = both(OWN_LOSS, OWN_METRIC, formatted(TRAIN, length=79))
case("dialect: 79 characters and edits", edit, WINDOW)

ROW = r"^    (\w+): ([^=\n]+?) = (.*?)  # ([^\"\n]*)$"
for form, row in {
    "field(...)": r'    \1: \2 = field(default=\3, metadata={"help": "\4"})',
    "Annotated": r'    \1: Annotated[\2, arg(help="\4")] = \3',
    "a function that has their names": r'    \1: \2 = setting("\1", \3, "\4")',
}.items():
    edit = both(sub(ROW, row, None, path=CONFIG), formatted(CONFIG))
    for name, update in {"the average": EMA, "no clipping": NO_CLIP, "numbers": NUMBERS}.items():
        case(f"form: settings by {form}, {name}", edit, update)

# names

NET, CFG = rename("model", "net", TRAIN), rename("config", "cfg", TRAIN)
case("names: model -> net, also in lines that come", NET, EMA)
case("names: model -> net, in a window", NET, WINDOW)
case("names: config -> cfg, and the average", CFG, EMA)
case("names: config -> cfg, but not the keyword of a call that comes", CFG, TENSORBOARD)
case("names: config -> cfg, and another schedule", CFG, LINEAR)
case("names: accelerator -> acc, and a tracker", rename("accelerator", "acc", TRAIN), WANDB)
case("names: loss -> batch_loss, in a window", rename("loss", "batch_loss", TRAIN), WINDOW)
edit = rename("log", "say", TRAIN, METRICS, CALLBACKS, CHECKPOINT, CONFIG)
case("names: log -> say, and early stopping comes", edit, STOP)
edit = both(
    rename("evaluate", "evaluate_model", TRAIN),
    in_tests(r"train\.evaluate(?=[(,])", "train.evaluate_model"),
)
case("names: evaluate -> evaluate_model, where it is indented", edit, EMA)
LINES = rename("MetricsFile", "JsonLines", TRAIN, METRICS)
case("names: MetricsFile -> JsonLines, and the average", LINES, EMA)
case("names: MetricsFile -> JsonLines, which goes", LINES, off("metrics_file"), result=nothing)
case("names: model -> net and 88 characters", both(NET, formatted(TRAIN, length=88)), EMA)
case("names: model -> net and an edit", both(OWN_METRIC, NET), EMA)

# files


def moved(module: str, target: str, tests: bool = True) -> Apply:
    """A file has another name, by which the loop and the project's tests import it."""
    name = target.removesuffix(".py").replace("/", ".")
    old, new = f"from {module} import", f"from {name} import"
    steps = [move_file(f"{module}.py", target), sub(old, new)]
    return both(*steps, in_tests(old, new)) if tests else both(*steps)


SHIFT = on("augmentation")
INTO_SRC = moved("data", "src/data.py")
case("files: moved to a folder", INTO_SRC, SHIFT)
case("files: moved to a folder and edited", both(PINNED, INTO_SRC), SHIFT)
case("files: data.py -> dataset.py", moved("data", "dataset.py"), SHIFT)
edit = moved("callbacks", "hooks.py", tests=False)
result = moved("callbacks", "hooks.py")
case("files: callbacks.py -> hooks.py, where the import changes", edit, EMA, result=result)
case("files: model.py -> network.py, beside a changed import", moved("model", "network.py"), EMA)


def into_package(files: Files) -> None:
    for path in [path for path in files if path.endswith(".py")]:
        files[f"src/{path}"] = files.pop(path)


case("files: all code into src/", into_package, {**EMA, **WINDOW})


def without_tests(files: Files) -> None:
    for path in [path for path in files if path.startswith("tests/")]:
        del files[path]


case("files: the proof deleted", without_tests, EMA)
case("files: a file of the proof deleted", remove("tests/test_features.py"), EMA)
case("files: README deleted", remove(README), NO_STOP, start=STOP)
RUN_SH = '#!/bin/sh\naccelerate launch --config_file accelerate.yaml train.py "$@"\n'
edit = both(create("run.sh", RUN_SH), create("notes/plan.md", "- compare with SGD\n"))
case("files: own files beside the others", edit, FOUR)


def schedule_in_its_own_file(files: Files) -> None:
    text = files[TRAIN]
    (place,) = find(text, r"def build_schedule\(")
    function = "\n".join(text.splitlines()[place.start : place.end])
    text = splice(text, place.start, place.end + 2, [])
    text = re.sub(r"^from (math|torch\.optim\.lr_scheduler) import .*\n", "", text, flags=re.M)
    files[TRAIN] = text
    math = "from math import cos, pi\n\n" if "cos(" in function else ""
    files["schedule.py"] = (
        f'"""The learning rate."""\n\n{math}from torch.optim import Optimizer\n'
        "from torch.optim.lr_scheduler import LambdaLR\n\nfrom config import Config\n\n\n"
        f"{function}\n"
    )


SCHEDULE_MOVED = both(
    schedule_in_its_own_file, after("from model import", "from schedule import build_schedule")
)
case("files: a function moved to a file of its own", SCHEDULE_MOVED, EMA)
case("files: a function moved to a file of its own, which changes", SCHEDULE_MOVED, LINEAR)


edit = move_below(r"def build_schedule\(", r"def main\(")
case("files: a function moved down", edit, EMA)
case("files: a function moved down, which changes", edit, LINEAR)

# TOML, YAML, Markdown, patterns

edit = both(
    sub(
        "Trains an image classifier on scikit-learn's handwritten digits",
        "Our classifier",
        path=README,
    ),
    append(README, "\n## Results\n\n| run | accuracy |\n| --- | --- |\n| 1 | 0.98 |\n"),
)
case("text: README's first paragraph and a section more", edit, EMA)
OURS = "- **Ours**: two seeds for each run.\n"
edit = sub(r"- \*\*Early stopping\*\*.*\n", rf"\g<0>{OURS}", path=README)
also = [sub(r"- \*\*Metrics file\*\*.*\n", rf"{OURS}\g<0>", path=README)]
case("text: README's list, where a line is inserted", edit, EMA, also=also, start=STOP)
edit = sub(r"^- \*\*.*\n", "", None, path=README)
case("text: README's list deleted, where a line is inserted", edit, EMA)


def requirement(below: str, row: str) -> Apply:
    """One more dependency, below another."""
    return sub(rf'^    "{below}>=.*\n', rf'\g<0>    "{row}",\n', path=PYPROJECT)


TORCHMETRICS = requirement("tqdm", "torchmetrics>=1.4")
also = [requirement("wandb", "torchmetrics>=1.4")]
case("text: a dependency where one is inserted", TORCHMETRICS, WANDB, also=also)
edit = requirement("tyro", "wandb>=0.18")
case("text: a dependency that the update brings too", edit, WANDB, result=nothing)
edit = requirement("tqdm", "wandb==0.17.2")
case("text: a dependency that the update brings in another version", edit, WANDB, asks=PYPROJECT)
edit = sub('"(accelerate|safetensors|scikit-learn|torch|tqdm)>=', r'"\1==', 5, path=PYPROJECT)
case("text: all dependencies pinned, and one more between them", edit, on("learning_curves"))
edit = both(
    sub("line-length = 100", "line-length = 120", 2, path=PYPROJECT),
    append(PYPROJECT, "\n[tool.mypy]\nstrict = true\n"),
    literal(PYPROJECT, 'version = "0.1.0"', 'version = "1.2.0"'),
)
case("text: tables of one's own in pyproject.toml", edit, WANDB)
edit = append(LAUNCH, "main_process_port: 29501\n")
also = [sub("^rdzv_backend: ", r"main_process_port: 29501\n\g<0>", path=LAUNCH)]
case("text: a key at the end of a launch file, where two come", edit, FOUR, also=also)
case("text: a value beside one that changes", sub("debug: false", "debug: true", path=LAUNCH), FOUR)
edit = both(
    sub("^machine_rank: 0", r"# only one machine\n\g<0>", path=LAUNCH),
    sub("use_cpu: false", r"\g<0>  # four of them", path=LAUNCH),
)
case("text: comments in a launch file", edit, FOUR)
edit = sub("num_processes: 1", "num_processes: 2", path=LAUNCH)
case("text: the value that the update changes too", edit, FOUR, asks=LAUNCH)
edit = both(
    sub(r"\A# .*", "# What we train with. Ask Kim before you change it.", path=ANSWERS),
    sub(r"^\[features\.clipping\]", r"# tried in May: no better\n\g<0>", path=ANSWERS),
)
case("text: comments in scaffold.toml", edit, WINDOW)
case("text: patterns in .gitignore", append(".gitignore", "wandb/\n*.ckpt\n"), WANDB)
edit = sub(r"^python train\.py$", r"\g<0> --epochs 40", path=README)
case("text: the command in README, which changes too", edit, FOUR, asks=README)

# job scripts


def option(text: str) -> Apply:
    """A line of the owner's in the script that starts a job."""
    return sub("^#SBATCH --requeue\n", rf"\g<0>{text}\n", path=JOB)


def moved_option(text: str) -> Apply:
    """It stands there in place of the same line of the render."""
    return both(sub(f"^{text}\n", "", path=JOB), option(text))


MEMORY, LONG = {"slurm.memory": "32G"}, {"slurm.partition": "long"}
for text, update, asks in (
    ("#SBATCH --mem=64G", MEMORY, JOB),
    ("#SBATCH --mem 64G", MEMORY, JOB),
    ("#SBATCH -p gpu", LONG, JOB),
    ("#SBATCH --account=me", {"slurm.account": "you"}, JOB),
    ("#SBATCH --array=0-3", {"slurm.seeds": 3}, JOB),
    ("#SBATCH -t 3:00:00", {"slurm.time": "08:00:00"}, JOB),
    ("#SBATCH --mem=32G", MEMORY, ()),
    ("#SBATCH --mail-type=END", MEMORY, ()),
    ("#SBATCH --exclusive", LONG, ()),
    ("export NCCL_DEBUG=INFO", MEMORY, ()),
):
    result = moved_option(text) if text.endswith("--mem=32G") else None
    case(f"job: {text}, then {update}", option(text), update, asks=asks, start=SLURM, result=result)
