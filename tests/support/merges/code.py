"""Imports, fields of Config, keywords and states, functions and classes of the owner's own."""

import re
from itertools import permutations
from textwrap import indent

from corpus.changes import on
from corpus.edit import CALLBACKS, CHECKPOINT, CONFIG, TRAIN, Apply, both
from corpus.script import after, before, cut, define, delete, replace, sub, wrap
from corpus.structure import formatted, one_import_a_line
from support.merges.case import case
from support.merges.words import (
    BF16,
    EMA,
    FIRST,
    LAST_FIELD,
    LINEAR,
    LOADED,
    LOGGED,
    LOOP,
    MAIN,
    METRICS_FILE,
    NAN,
    NO_BEST,
    NO_CLIP,
    NO_NAN,
    NO_SCHEDULE,
    NO_STOP,
    OPTIMIZERS,
    OWN_CALLBACK,
    OWN_OPTIMIZER,
    PINNED,
    RESUME,
    SAVED,
    SGD,
    STOP,
    TENSORBOARD,
    TEST,
    THROUGHPUT,
    VALIDATE,
    WANDB,
    WANDB_BY_HAND,
    WINDOW,
    at_end,
)

# imports

edit = both(
    after("import time", "import warnings"),
    before(LOOP, 'warnings.simplefilter("ignore")'),
    after(LOADED, "warnings.resetwarnings()"),
)
case("imports: own import above one of the update", edit, WINDOW)
OWN_CLASS_LAST = both(OWN_CALLBACK, define(THROUGHPUT, "class BestModel", path=CALLBACKS))
case(
    "imports: own name in an import that grows, own class where one is inserted",
    OWN_CLASS_LAST,
    EMA,
    also=[both(OWN_CALLBACK, define(THROUGHPUT, "class Ema", path=CALLBACKS))],
)
case(
    "imports: own name in an import that shrinks, own class beside one that goes",
    OWN_CLASS_LAST,
    NO_STOP,
    start=STOP,
)
edit = both(
    sub(r"\bset_seed\(", "seed_everything(", None),
    sub(r"^(from .*)\bset_seed$", r"\1set_seed as seed_everything"),
)
case("imports: alias in an import that grows", edit, WINDOW)
edit = both(
    replace("import time", "from time import perf_counter"),
    sub(r"\btime\.perf_counter\(", "perf_counter(", 2),
)
case("imports: another form of an import beside an inserted one", edit, WINDOW)


case("imports: one name a line, and a name more", one_import_a_line, EMA)
QUIET = wrap(LOADED, LOADED, "with suppress(FileNotFoundError):")
case(
    "imports: the module that the update imports another name from",
    both(after("import time", "from contextlib import suppress"), QUIET),
    WINDOW,
    start={"project.task": "language_model"},
    result=both(after("from contextlib import", "from contextlib import suppress"), QUIET),
)
DEGREES = after(VALIDATE, 'metrics["val_degrees"] = metrics["val_accuracy"] * 180 / pi')
case(
    "imports: own use of a name whose import goes",
    DEGREES,
    NO_SCHEDULE,
    result=both(DEGREES, after("from itertools import", "from math import pi")),
    start=NO_CLIP,
)
case("imports: another optimizer, and the average", SGD, EMA)
case(
    "imports: another optimizer, and its weight decay from the answers",
    SGD,
    {"training.learning_rate": 0.1},
)

# fields of Config, keywords of a call, names of a list

case("fields: own field at the end", after(LAST_FIELD, "compile: bool = False"), EMA)
edit = after("batch_size: ", "crop: int = 0")
case("fields: own field beside a changed one", edit, {"training.batch_size": 64})
SMOOTHING = "label_smoothing: float = 0.1"
edit = after("min_delta: ", SMOOTHING)
also = [after("ema_decay: ", SMOOTHING)]
case("fields: own field where one is inserted", edit, EMA, also=also, start=STOP)
edit = after("min_delta: ", SMOOTHING)
result = before("warmup_ratio: ", SMOOTHING)
case("fields: own field below one that goes", edit, NO_STOP, result=result, start=STOP)


def without_comments(but: str = "-") -> Apply:
    """No comment behind any field, but behind those that begin so."""
    return sub(rf"^(    (?!{but})\w+: .*?)  # .*$", r"\1", None, path=CONFIG)


case("fields: no comments", without_comments(), EMA, also=[without_comments("ema_decay: ")])
case(
    "fields: own table in the class, and one field more",
    after(
        LAST_FIELD,
        """
        # ours
        crop: int = 0
        flip: bool = False
        names: tuple[str, ...] = ("a", "b")
        """,
    ),
    TENSORBOARD,
)
OWN_KEYWORD = "        step_scheduler_with_optimizer=False,\n"
ACCELERATOR = r"accelerator = Accelerator\(\n"


def first_keyword(row: str) -> Apply:
    return sub(ACCELERATOR, rf"\g<0>{row}")


def keyword_orders(*new: str) -> list[Apply]:
    """The keywords of Accelerator(...) in all orders in which neighbours stay together."""
    rows = "".join(f"        {row}\n" for row in new)
    kept = rf"({re.escape(rows)})((?: {{8}}.*\n)+)(?=    \)\n    check_environment)"
    return [sub(kept, "".join(order)) for order in permutations([OWN_KEYWORD, r"\1", r"\2"])]


also = keyword_orders("mixed_precision=config.mixed_precision,")
case("fields: own keyword where one is inserted", first_keyword(OWN_KEYWORD), BF16, also=also)
also = keyword_orders('log_with="wandb",', "project_dir=config.output_dir,")
case("fields: own keyword where two are inserted", first_keyword(OWN_KEYWORD), WANDB, also=also)
edit = first_keyword('        log_with="wandb",\n')
case(
    "fields: a keyword of the owner that the update gives otherwise", edit, TENSORBOARD, asks=TRAIN
)
case("fields: own keyword in a call beside inserted lines", PINNED, on("augmentation"))
edit = sub(r'^( +)"processes": ', r'\1"num_workers": "mine",\n\g<0>', path=CHECKPOINT)
case("fields: own name in a list where one is inserted", edit, WINDOW)
edit = sub(r'^( +)"max_steps": 0,\n', r'\g<0>\1"num_workers": 0,\n', path="tests/helpers.py")
case("fields: own entry in the settings of the proof", edit, {**EMA, **WINDOW})
edit = sub(
    r"model, loader, name, limit=0\)", "model: nn.Module, loader, name: str, limit: int = 0)"
)
case("fields: annotations of a signature above changed lines", edit, {**EMA, **WINDOW})
SAMPLER = "sampler = Sampler()"
edit = both(
    sub('"metrics_file": metrics_file', r'\g<0>, "sampler": sampler'),
    before(METRICS_FILE, SAMPLER),
    sub("^from data import ", r"\g<0>Sampler, "),
    formatted(TRAIN),
)
case("fields: own state that checkpoints save, where one goes", edit, NO_BEST)
edit = both(
    sub('"best_model": best_model', r'"sampler": sampler, \g<0>'),
    before(r"best_model = BestModel\(", SAMPLER),
    sub(r"^from callbacks import (\(\n    )?", r"\g<0>Sampler, "),
    formatted(TRAIN),
)
case("fields: own state that checkpoints save, where one is inserted", edit, EMA)

# code of one's own

edit = both(
    after(r"correct \+= ", "top3 += top3_hits.sum()"),
    sub("loss_sum = correct = seen", "loss_sum = correct = top3 = seen"),
    before(
        r"losses, predictions, labels = accelerator\.gather",
        """
            top3_hits = (logits.topk(3).indices == labels[:, None]).any(dim=-1)
            top3_hits = accelerator.gather_for_metrics(top3_hits)
            """,
    ),
    sub(r"float\(correct\) / seen", r'\g<0>, f"{name}_top3": float(top3) / seen'),
    formatted(TRAIN),
)
case("own code: a metric in evaluate", edit, LINEAR)
PLOT = '''
    def plot(values: list[float], path: Path) -> None:
        """One value a line."""
        path.write_text("\\n".join(map(str, values)), encoding="utf-8")
'''
case("own code: a function below one that changes", define(PLOT), LINEAR)
case("own code: a function below one that goes", define(PLOT), NO_SCHEDULE)
edit = define(PLOT)
also = [define(PLOT, r"def build_schedule\(")]
case(
    "own code: a function above one that comes", edit, on("schedule"), start=NO_SCHEDULE, also=also
)
case("own code: a class at the end, above which one goes", at_end(THROUGHPUT), NO_NAN, start=NAN)
edit = sub(
    r'self\.best, self\.stale = state\["best"\], state\["stale"\]\n',
    r"\g<0>\n    def reset(self) -> None:\n        self.stale = 0\n",
    path=CALLBACKS,
)
case("own code: a method at the end of a class, below which one comes", edit, EMA, start=STOP)
case("own code: a tracker by hand, and the average", WANDB_BY_HAND, EMA)
also = [
    both(
        after(OPTIMIZERS, "import wandb"),
        before(RESUME, 'wandb.init(project="digits", config=vars(config))'),
        sub(
            rf"^( +){LOGGED}.*\n +accelerator\.log\(.*\n",
            r"\g<0>\1wandb.log(metrics, step=progress.step)\n",
        ),
    )
]
case(
    "own code: a tracker by hand, and another one beside it", WANDB_BY_HAND, TENSORBOARD, also=also
)
case("own code: a part of main as a function", OWN_OPTIMIZER, {**EMA, **WINDOW})
BEST = """
best_model.load(model)
save_weights(accelerator, model, config.output_dir / "model.safetensors")
write_config(accelerator, config, config.output_dir)  # the settings of these weights
metrics = evaluate(accelerator, model, test_loader, "test", config.limit_batches)
"""
DONE = """log(f"done | {format_metrics(metrics)}")
metrics_file.append(progress.step, metrics)
"""
LAST_ROW = r"metrics_file\.append\(progress\.step, metrics\)"


def into(head: str, *body: str, call: str, first: str = LOADED) -> Apply:
    """The end of main as a function."""
    text = f"{head}\n{indent(''.join(body), '    ').strip(chr(10))}"
    return both(cut(first, LAST_ROW, call, "main"), define(text, MAIN))


GIVEN = "accelerator, model, test_loader, config, progress, best_model, metrics_file"
SPLIT = into(
    f'def test({GIVEN}):\n    """Test, save the final weights."""',
    BEST,
    DONE,
    call=f"test({GIVEN})",
)
case("own code: main split, and an update elsewhere", SPLIT, BF16)
result = into(
    f'def test({GIVEN}, ema):\n    """Test, save the final weights."""\n    with ema.applied():',
    indent(BEST, "    "),
    DONE,
    call=f"test({GIVEN}, ema)",
    first=rf"with ema\.applied\(\): {LOADED}",
)
case("own code: main split where the update wraps lines", SPLIT, EMA, result=result)
PASSED = "accelerator, model, test_loader, config, progress, checkpoints, best_model, metrics_file"
NOT_SAVED = sub(r"^    checkpoints\.save\(\)\n(?=    finish\()", "")
edit = both(
    into(
        f"def finish(\n    {PASSED}\n):", "checkpoints.save()", BEST, DONE, call=f"finish({PASSED})"
    ),
    NOT_SAVED,
)
result = both(
    into(
        f"def finish(\n    {PASSED}, ema\n):",
        "checkpoints.save()\nwith ema.applied():",
        indent(BEST, "    "),
        DONE,
        call=f"finish({PASSED}, ema)",
        first=rf"with ema\.applied\(\): {LOADED}",
    ),
    NOT_SAVED,
)
case("own code: main split where the update wraps a part of the lines", edit, EMA, result=result)
for head, tail in (
    ("try:", "finally:\n    print('left')"),
    ("with torch.enable_grad():", ""),
    ("for stage in range(2):", ""),
):
    around = wrap(LOOP, SAVED, head, tail=tail)
    case(f"own code: the loop in `{head}`, and lines in front of it", around, FIRST)
edit = both(delete(TEST), cut(r'log\(f"done', LAST_ROW, 'log("done")', "main"))
case("own code: the test's evaluation deleted, where lines are wrapped", edit, EMA)
