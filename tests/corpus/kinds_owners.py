"""Edits that were written down for a project as it is rendered, before any of them was merged."""

import re

from corpus.edit import (
    CALLBACKS,
    METRICS,
    MODEL,
    REPORTED,
    TRAIN,
    Apply,
    CannotEdit,
    Files,
    add_import,
    after,
    before,
    create,
    define,
    delete,
    field,
    find,
    kind,
    replace,
    splice,
    sub,
    wrap,
)
from corpus.structure import move

EVALUATE, SAVE, RESUME = r"metrics = evaluate\(", r"save_weights\(", r"checkpoints\.resume\("
PREPARED, BUILT = r"set_seed\(config\.seed, device_specific", r"model = build_model\("
EPOCH, ENDED = r"train_loader\.set_epoch\(", r'metrics = \{"train_loss"'
STEPPED = r"progress\.step \+= 1"


def own(name: str, words: str, *steps: Apply) -> None:
    kind(f"own: {name}", REPORTED, words, *steps)


def definitions(path: str, pattern: str) -> Apply:
    """Moves functions or classes out of a file into a new one."""
    target, names = pattern.split(": ")
    return move(tuple(names.split(", ")), target, "Mine.", path)


def put_into(path: str, target: str) -> Apply:
    """Puts the functions of a file into another one, and deletes it."""

    def apply(files: Files) -> None:
        text = files.pop(path)
        head, _, body = text.partition("\n\n\n")
        heads = [row for row in head.splitlines() if re.match(r"(import|from) ", row)]
        module, new = path[:-3], target[:-3]
        for name in files:
            if name.endswith(".py"):
                row = "" if name == target else rf"\1from {new} import \2\n"
                files[name] = re.sub(rf"(?m)^( *)from {module} import (.*)\n", row, files[name])
        if target in files:
            for row in heads:
                if row not in files[target].splitlines():
                    add_import(target, row)(files)
            first, *_ = [
                place for place in find(files[target], r"(@|def|class)", "", None) if place
            ]
            block = [*body.rstrip("\n").split("\n"), "", ""]
            files[target] = splice(files[target], first.start, first.start, block)
        else:
            files[target] = "\n".join(heads) + "\n\n\n" + body

    return apply


def one_epoch(inner: bool) -> Apply:
    """The steps of an epoch become a function, above main or inside of it."""

    def apply(files: Files) -> None:
        text = files[TRAIN]
        (loop,) = find(text, r"for images, labels in bar|while window", "main")
        lines = text.splitlines()
        given = "accelerator, model, optimizer, bar, config, progress, train_loss, schedule"
        given += ", total_steps, metrics_file, checkpoints"
        body = lines[loop.start : loop.end]
        start = "start, start_step = time.perf_counter(), progress.step"
        if f"        {start}" not in lines or "window" in loop.text:
            raise CannotEdit("the loop has another form")
        if inner:
            head, call, margin = "def train_one_epoch(bar):", "train_one_epoch(bar)", "    "
        else:
            head, call, margin = f"def train_one_epoch({given}):", f"train_one_epoch({given})", ""
        new = [margin + head, f"{margin}    {start}"]
        new += [margin + row[4:] if row else "" for row in body]
        text = splice(text, loop.start, loop.end, [f"        {call}"])
        text = text.replace(f"        {start}\n", "", 1)
        (place,) = find(text, r"for epoch in" if inner else r"def main\(", "main" if inner else "")
        files[TRAIN] = splice(text, place.start, place.start, [*new, "", *([] if inner else [""])])

    return apply


def renamed(old: str, new: str, path: str = TRAIN) -> Apply:
    return sub(path, rf"(?<![\w.\"]){old}(?=[\s,.)(\]:]|$)(?!\.safetensors)(?!=)", new, None)


# the loop

own(
    "loss must be finite",
    "a check of the loss",
    before(TRAIN, r"accelerator\.backward\(", "assert torch.isfinite(loss)"),
)
own(
    "largest norm of gradients",
    "kept over steps",
    before(TRAIN, r"for epoch in", "largest = 0.0"),
    after(TRAIN, STEPPED, "largest = max(largest, float(progress.step))"),
)
own(
    "seconds of an epoch",
    "timed and printed",
    after(TRAIN, EPOCH, "began = time.time()"),
    before(TRAIN, ENDED, 'print("epoch took", time.time() - began)'),
)
own(
    "rates printed",
    "after each step",
    after(TRAIN, STEPPED, 'print(optimizer.param_groups[0]["lr"])'),
)
own(
    "memory of the device",
    "printed at the end of an epoch",
    before(TRAIN, ENDED, "print(torch.cuda.is_available())"),
)
own(
    "labels counted in a list",
    "of all batches",
    before(TRAIN, r"for epoch in", "sizes = []"),
    after(TRAIN, STEPPED, "sizes.append(progress.step)"),
)
own(
    "end of a short epoch",
    "an own condition to stop",
    after(TRAIN, EPOCH, 'if config.seed < 0:\n    raise ValueError("seed")'),
)
own("message at the start", "of training", before(TRAIN, r"for epoch in", 'log("starting")'))
own(
    "garbage collected",
    "after each epoch",
    add_import(TRAIN, "import gc"),
    before(TRAIN, ENDED, "gc.collect()"),
)
own(
    "own timer as an object",
    "of each epoch",
    define(
        TRAIN,
        "class Timer:\n    def __init__(self):\n        self.began = time.time()\n\n    def read(self):\n        return time.time() - self.began",
    ),
    after(TRAIN, EPOCH, "timer = Timer()"),
    before(TRAIN, ENDED, "print(timer.read())"),
)

# evaluation

own(
    "keys with valid",
    "in place of val",
    sub(TRAIN, r'"val"', '"valid"', None),
    sub(TRAIN, "val_accuracy", "valid_accuracy", None),
)
own("keys with dev", "the name alone", sub(TRAIN, r'"val"', '"dev"', None))
own("keys of the test", "have another name", sub(TRAIN, r'"test"', '"final"'))
own(
    "error beside accuracy",
    "one more key",
    sub(
        TRAIN,
        r'(f"\{name\}_accuracy": float\(correct\) / seen)',
        r'\1, f"{name}_errors": int(seen - correct)',
    ),
)
own(
    "perplexity of the loss",
    "one more metric",
    after(TRAIN, EVALUATE, 'metrics["exp"] = 2.7 ** metrics["test_loss"]'),
)
own(
    "evaluate without a limit",
    "by a parameter",
    sub(TRAIN, r"name, limit=0\)", "name, limit=None)"),
)
own(
    "metrics in percent", "printed", after(TRAIN, EVALUATE, 'print(100 * metrics["test_accuracy"])')
)
own(
    "evaluate says so",
    "prints a line",
    before(TRAIN, r"loss_sum = correct = seen = 0", 'log(f"evaluating {name}")'),
)
own(
    "evaluation in its own file",
    "evaluate and compute_loss",
    definitions(TRAIN, "evaluation.py: compute_loss, evaluate"),
)
own("optimizer in its own file", "build_optimizer", definitions(TRAIN, "optim.py: build_optimizer"))

# settings

own(
    "two more fields",
    "at the end of Config",
    field("alpha: float = 0.5  # mine", "seed"),
    field("beta: float = 0.1  # mine", "epochs"),
)
own(
    "Config checks itself",
    "in __post_init__",
    after(
        TRAIN,
        r"resume: ",
        "\ndef __post_init__(self) -> None:\n    if self.epochs < 0:\n        raise ValueError(self.epochs)",
        "Config",
    ),
)
own(
    "Config with a property of steps",
    "computed",
    after(
        TRAIN,
        r"resume: ",
        "\n@property\ndef is_short(self) -> bool:\n    return self.epochs < 3",
        "Config",
    ),
)
own("learning_rate is lr", "everywhere in train.py", sub(TRAIN, r"\blearning_rate\b", "lr", None))
own(
    "weight_decay is wd",
    "everywhere in train.py",
    sub(TRAIN, r"config\.weight_decay\b", "config.wd", None),
    sub(TRAIN, r"^    weight_decay: ", "    wd: "),
)
own(
    "comments of fields",
    "in other words",
    sub(TRAIN, r"# passes over the training data", "# number of epochs"),
)
own(
    "defaults of three fields",
    "changed",
    sub(TRAIN, r"num_workers: int = 0", "num_workers: int = 2"),
    sub(TRAIN, r"seed: int = 0", "seed: int = 1234"),
    sub(TRAIN, r"warmup_ratio: float = 0\.05", "warmup_ratio: float = 0.02"),
)
own(
    "output folder by date",
    "another default",
    sub(TRAIN, r'Path\("runs/latest"\)', 'Path("runs") / "mine"'),
)
own(
    "name of the run",
    "one more field that is used",
    field('name: str = "run"  # of the run'),
    before(TRAIN, r"for epoch in", "log(config.name)"),
)

# names and structure

own("model is net", "in main", renamed("model", "net"))
own("accelerator is acc", "in train.py", renamed("accelerator", "acc"))
own(
    "metrics is results",
    "in main",
    sub(TRAIN, r"\bmetrics\b(?!_file| import|\.jsonl)", "results", None),
)
own("one epoch as a function above", "train_one_epoch", one_epoch(False))
own("one epoch as a function inside", "train_one_epoch in main", one_epoch(True))
own(
    "one epoch as a function, and net",
    "extracted and renamed",
    one_epoch(False),
    renamed("model", "net"),
)
own("weights in utils", "weights.py is gone", put_into("weights.py", "utils.py"))
own("weights in train.py", "weights.py is gone", put_into("weights.py", TRAIN))
own("metrics in progress.py", "metrics.py is gone", put_into(METRICS, METRICS))
own(
    "setup in a function",
    "of the accelerator",
    define(
        TRAIN,
        "def setup():\n    return Accelerator(\n        dataloader_config=DataLoaderConfiguration(use_seedable_sampler=True, data_seed=0),\n    )",
    ),
    replace(TRAIN, r"accelerator = Accelerator\(", "accelerator = setup()", "main"),
)
own(
    "hints taken out",
    "of main and evaluate",
    sub(TRAIN, r"\) -> None:", "):", None),
    sub(TRAIN, r"\) -> dict\[str, float\]:", "):", None),
)
own(
    "docstrings in other words",
    "of two functions",
    sub(
        TRAIN,
        r'"""The loss of each sample, shape \(batch,\)\."""',
        '"""Cross-entropy per sample."""',
    ),
)
own(
    "main in a try",
    "with a message",
    wrap(TRAIN, r"for epoch in", r"for epoch in", "if config.epochs > 0:", "main"),
)
own(
    "test behind a flag",
    "skipped if it is off",
    field("test: bool = True  # measure on test data"),
    wrap(TRAIN, EVALUATE, r"metrics_file\.append", "if config.test:", "main"),
)
own(
    "tested before it is saved",
    "in another order",
    delete(TRAIN, SAVE, "main"),
    before(
        TRAIN,
        r"model, optimizer = accelerator\.free_memory",
        'save_weights(accelerator, model, config.output_dir / "model.safetensors")',
        "main",
    ),
)
own(
    "no weights at the end",
    "not saved",
    delete(TRAIN, SAVE, "main"),
    sub(TRAIN, r"^from weights import save_weights\n", ""),
)

# before the loop

own("fast kernels", "allowed", before(TRAIN, BUILT, "torch.backends.cudnn.benchmark = True"))
own(
    "parameters counted",
    "and printed",
    after(TRAIN, BUILT, "print(sum(p.numel() for p in model.parameters()))"),
)
own(
    "first layer frozen",
    "no gradients",
    after(TRAIN, BUILT, "next(model.parameters()).requires_grad_(False)"),
)
own(
    "own average",
    "a variable that is called ema",
    before(TRAIN, r"for epoch in", "ema = 0.0"),
    after(TRAIN, STEPPED, "ema = 0.9 * ema + 0.1 * progress.step"),
)
own(
    "own patience",
    "a variable and a break",
    before(TRAIN, r"for epoch in", "patience = 0"),
    before(TRAIN, ENDED, "patience += 1"),
)
own(
    "model from a file",
    "if it is there",
    after(
        TRAIN,
        BUILT,
        'if Path("start.pt").exists():\n    model.load_state_dict(torch.load("start.pt", weights_only=True))',
    ),
)
own(
    "describes the optimizer",
    "prints it",
    after(TRAIN, r"optimizer = build_optimizer\(", "print(type(optimizer).__name__)"),
)
own(
    "own file of rows",
    "written beside metrics.jsonl",
    before(TRAIN, r"for epoch in", 'rows = open(config.output_dir / "rows.txt", "a")'),
    before(TRAIN, ENDED, 'rows.write(f"{epoch}\\n")'),
)

# other files

own("dropout in the model", "one more layer", sub(MODEL, r"nn\.ReLU\(\)", "nn.GELU()", None))
own(
    "best model says so",
    "prints the score",
    after(CALLBACKS, r"self\.score = float\(score\)", "print(self.score)"),
)
own(
    "notes in the README",
    "one more section",
    lambda files: files.update({"README.md": files["README.md"] + "\n## Mine\n\nNotes.\n"}),
)
own(
    "a script of the owner",
    "uses evaluate",
    create("check.py", "from train import evaluate\n\nprint(evaluate)\n"),
)
