"""Edits that were written down for a project as it is rendered, before any of them was merged."""

import re

from corpus.edit import (
    CALLBACKS,
    MODEL,
    REPORTED,
    TRAIN,
    Apply,
    Files,
    field,
    find,
    kind,
    splice,
)
from corpus.script import add_import, after, before, define, delete, replace, sub, wrap

EVALUATE, SAVE, RESUME = r"metrics = evaluate\(", r"save_weights\(", r"checkpoints\.resume\("
EPOCH, ENDED = r"train_loader\.set_epoch\(", r'metrics = \{"train_loss"'
STEPPED = r"progress\.step \+= 1"


def own(name: str, words: str, *steps: Apply) -> None:
    kind(f"own: {name}", REPORTED, words)(*steps)


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
                    add_import(row, path=target)(files)
            first = find(files[target], r"(@|def|class)", "", None)[0]
            block = [*body.rstrip("\n").split("\n"), "", ""]
            files[target] = splice(files[target], first.start, first.start, block)
        else:
            files[target] = "\n".join(heads) + "\n\n\n" + body

    return apply


# the loop

own(
    "largest norm of gradients",
    "kept over steps",
    before(r"for epoch in", "largest = 0.0"),
    after(STEPPED, "largest = max(largest, float(progress.step))"),
)
own(
    "end of a short epoch",
    "an own condition to stop",
    after(EPOCH, 'if config.seed < 0:\n    raise ValueError("seed")'),
)
own(
    "own timer as an object",
    "of each epoch",
    define(
        "class Timer:\n    def __init__(self):\n        self.began = time.time()\n\n    def read(self):\n        return time.time() - self.began"
    ),
    after(EPOCH, "timer = Timer()"),
    before(ENDED, "print(timer.read())"),
)

# evaluation

own(
    "keys with valid",
    "in place of val",
    sub(r'"val"', '"valid"', None),
    sub("val_accuracy", "valid_accuracy", None),
)
own("keys of the test", "have another name", sub(r'"test"', '"final"'))
own(
    "error beside accuracy",
    "one more key",
    sub(
        r'(f"\{name\}_accuracy": float\(correct\) / seen)',
        r'\1, f"{name}_errors": int(seen - correct)',
    ),
)
own("evaluate without a limit", "by a parameter", sub(r"name, limit=0\)", "name, limit=None)"))

# settings

own(
    "Config checks itself",
    "in __post_init__",
    after(
        r"resume: ",
        "\ndef __post_init__(self) -> None:\n    if self.epochs < 0:\n        raise ValueError(self.epochs)",
        "Config",
    ),
)
own(
    "Config with a property of steps",
    "computed",
    after(
        r"resume: ",
        "\n@property\ndef is_short(self) -> bool:\n    return self.epochs < 3",
        "Config",
    ),
)

# names and structure

own("metrics is results", "in main", sub(r"\bmetrics\b(?!_file| import|\.jsonl)", "results", None))
own("weights in utils", "weights.py is gone", put_into("weights.py", "utils.py"))
own("weights in train.py", "weights.py is gone", put_into("weights.py", TRAIN))
own(
    "setup in a function",
    "of the accelerator",
    define(
        "def setup():\n    return Accelerator(\n        dataloader_config=DataLoaderConfiguration(use_seedable_sampler=True, data_seed=0),\n    )"
    ),
    replace(r"accelerator = Accelerator\(", "accelerator = setup()", "main"),
)
own(
    "test behind a flag",
    "skipped if it is off",
    field("test: bool = True  # measure on test data"),
    wrap(EVALUATE, r"metrics_file\.append", "if config.test:", "main"),
)
own(
    "no weights at the end",
    "not saved",
    delete(SAVE, "main"),
    sub(r"^from weights import save_weights\n", ""),
)

# other files

own("dropout in the model", "one more layer", sub(r"nn\.ReLU\(\)", "nn.GELU()", None, path=MODEL))
own(
    "best model says so",
    "prints the score",
    after(r"self\.score = float\(score\)", "print(self.score)", path=CALLBACKS),
)
