"""After an update, all files of a project are checked for what is newly wrong."""

import re
import time
from pathlib import Path
from textwrap import dedent

import pytest

from scaffold.answers.manifests import load_catalog
from scaffold.merge.checks.project import find_new_wrongs
from support.combinations import as_many_as_possible, given_for, in_turns, ways
from support.command_line import Cli
from support.rendering import render

Files = dict[str, str]

CONFIG = """
    from dataclasses import dataclass, replace

    @dataclass
    class Config:
        epochs: int = 1
        max_norm: float = 1.0

        def total(self):
            return self.epochs
"""


def files(text: str, **others: str) -> Files:
    named = {f"{name.replace('__', '/')}.py": dedent(other) for name, other in others.items()}
    return {"train.py": dedent(text), **named}


def without(before: Files, path: str, line: str) -> Files:
    text = before[path]
    assert line in text, line
    return {**before, path: text.replace(line, "", 1)}


def told(before: Files, after: Files, rendered: Files | None = None) -> list[str]:
    return [str(wrong) for wrong in find_new_wrongs(before, after, rendered or {})]


# what the owner has in a file of their own, while `Config` loses `max_norm`
USES = {
    "an object": "from train import Config\nprint(Config().max_norm)\n",
    "a class": "from train import Config\nprint(Config.max_norm)\n",
    "by module": "import train\nprint(train.Config().max_norm)\n",
    "by another name": "from train import Config as C\nc = C()\nprint(c.max_norm)\n",
    "a parameter with an annotation": (
        "from train import Config\n\n\ndef show(cfg: Config):\n    print(cfg.max_norm)\n"
    ),
    "an annotation in a string": (
        "from train import Config\n\n\ndef show(cfg: 'Config | None'):\n    print(cfg.max_norm)\n"
    ),
    "a parameter that is given one": (
        "from train import Config\n\n\ndef show(cfg):\n    print(cfg.max_norm)\n\n\n"
        "show(Config())\n"
    ),
    "a parameter that is passed on": (
        "from train import Config\n\n\ndef inner(c):\n    print(c.max_norm)\n\n\n"
        "def outer(cfg):\n    inner(cfg)\n\n\nouter(Config())\n"
    ),
    "a parameter that is called config": "def show(config):\n    print(config.max_norm)\n",
    "an attribute of self": (
        "class Mine:\n    def __init__(self, config):\n        self.config = config\n\n"
        "    def show(self):\n        print(self.config.max_norm)\n"
    ),
    "a result": (
        "from train import Config\n\n\ndef make():\n    return Config()\n\n\n"
        "print(make().max_norm)\n"
    ),
    "getattr": "def show(config):\n    print(getattr(config, 'max_norm'))\n",
    "what a test replaces": (
        "from unittest import mock\nimport train\n\n\ndef test_it(monkeypatch):\n"
        "    monkeypatch.setattr(train.Config, 'max_norm', 2)\n"
    ),
    "several that a test replaces": (
        "from unittest import mock\nimport train\n\n\ndef test_it():\n"
        "    with mock.patch.multiple(train.Config, max_norm=2):\n        train.main()\n"
    ),
    "getattr with a default": "def show(config):\n    print(getattr(config, 'max_norm', 0))\n",
    "asdict": (
        "from dataclasses import asdict\n\n\ndef show(config):\n"
        "    print(asdict(config)['max_norm'])\n"
    ),
    "vars": "def show(config):\n    print(vars(config)['max_norm'])\n",
    "a keyword": "from train import Config\nprint(Config(max_norm=2))\n",
    "keywords in a dict": "from train import Config\nprint(Config(**{'max_norm': 2}))\n",
    "replace": (
        "from dataclasses import replace\nfrom train import Config\n"
        "print(replace(Config(), max_norm=2))\n"
    ),
    "dataclasses.replace": (
        "import dataclasses\n\n\ndef show(config):\n    dataclasses.replace(config, max_norm=2)\n"
    ),
    "too many values": "from train import Config\nprint(Config(1, max_norm=2))\n",
    "a subclass": (
        "from train import Config\n\n\nclass Mine(Config):\n    x: int = 1\n\n\n"
        "print(Mine().max_norm)\n"
    ),
    "a relative import": "from .train import Config\nprint(Config().max_norm)\n",
    "a star import": "from train import *\nprint(Config().max_norm)\n",
    "a match": (
        "def show(config):\n    match config.max_norm:\n        case 0:\n            print(0)\n"
    ),
    "newer syntax": 'type X = int\n\n\ndef show(config):\n    print(f"{config.max_norm}")\n',
}


@pytest.mark.every_run
@pytest.mark.parametrize("name", USES)
def test_a_field_that_goes_is_still_used(name: str) -> None:
    before = files(CONFIG, mine=USES[name])
    found = told(before, without(before, "train.py", "    max_norm: float = 1.0\n"))
    assert len(found) == 1, found
    assert found[0].startswith("mine.py:") and "max_norm" in found[0]
    assert told(before, before) == []
    gone = without(before, "train.py", "    max_norm: float = 1.0\n")
    assert told(gone, {**gone, "train.py": gone["train.py"] + "\nX = 1\n"}) == [], "as it was"


# what has the name of a field, and is none
OTHERS = {
    "another object": "class Other:\n    max_norm = 1\n\n\nprint(Other().max_norm)\n",
    "something unknown": "def show(thing):\n    print(thing.max_norm)\n",
    "one of two": (
        "from train import Config\nfrom elsewhere import Other\n\n\ndef show(cfg):\n"
        "    print(cfg.max_norm)\n\n\nshow(Config())\nshow(Other())\n"
    ),
    "a variable that is set again": (
        "from train import Config\ncfg = Config()\ncfg = vars(cfg)\nprint(cfg.max_norm)\n"
    ),
    "a field of a subclass": (
        "from train import Config\n\n\nclass Mine(Config):\n    max_norm: int = 1\n\n\n"
        "print(Mine().max_norm, Mine(max_norm=2))\n"
    ),
    "an attribute that is added": (
        "from train import Config\nc = Config()\nc.max_norm = 1\nprint(c.max_norm)\n"
    ),
    "asked for": (
        "def show(config):\n    if hasattr(config, 'max_norm'):\n        print(config.max_norm)\n"
    ),
    "what a test adds": (
        "from unittest import mock\nimport train\n\n\ndef test_it(monkeypatch):\n"
        "    monkeypatch.setattr(train.Config, 'max_norm', 2, raising=False)\n"
        "    with mock.patch.multiple(train.Config, max_norm=2, create=True):\n        pass\n"
    ),
    "a class that answers to any name": (
        "from train import Config\n\n\nclass Mine(Config):\n    def __getattr__(self, name):\n"
        "        return 1\n\n\nprint(Mine().max_norm)\n"
    ),
    "a class of unknown kind": (
        "from elsewhere import Base\nfrom train import Config\n\n\nclass Mine(Base, Config):\n"
        "    pass\n\n\nprint(Mine().max_norm)\n"
    ),
    "an own name": "from train import Config\nmax_norm = Config().epochs\nprint(max_norm)\n",
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_only_has_the_name_of_a_field(name: str) -> None:
    before = files(CONFIG, mine=OTHERS[name])
    assert told(before, without(before, "train.py", "    max_norm: float = 1.0\n")) == []


@pytest.mark.every_run
@pytest.mark.parametrize("reads", ["vars(self).items()", "self.__dict__.values()"])
def test_a_call_with_a_field_that_goes_is_named_in_a_class_that_reads_its_fields(
    reads: str,
) -> None:
    """As `Config.__post_init__` does. A class that sets fields by their names may have any."""
    check = "\n        def __post_init__(self):\n            print({})\n"
    for done, number in ((reads, 1), ("vars(self).update(given)", 0)):
        before = files(CONFIG + check.format(done), mine=USES["a keyword"])
        found = told(before, without(before, "train.py", "    max_norm: float = 1.0\n"))
        assert len(found) == number and all("Config has no field max_norm" in row for row in found)


CHECKPOINT = """
    class Checkpoints:
        def __init__(self, folder, keep=2):
            self.folder, self.keep = folder, 2

        def resume(self):
            return self.folder

        def stop_if_told(self):
            pass


    def load_weights(path, strict=True):
        return path


    LIMIT = 3
"""
MODULE = {
    "a function by module": (
        "import checkpoint\ncheckpoint.load_weights(1)\n",
        ("def load_weights", "def load"),
        "mine.py:2: checkpoint.load_weights: checkpoint has no load_weights",
    ),
    "a function by name": (
        "from checkpoint import load_weights\nload_weights(1)\n",
        ("def load_weights", "def load"),
        "mine.py:1: imports load_weights from checkpoint, which does not define it",
    ),
    "a function by name, relative": (
        "from .checkpoint import load_weights\nload_weights(1)\n",
        ("def load_weights", "def load"),
        "mine.py:1: imports load_weights from .checkpoint, which does not define it",
    ),
    "a constant by module": (
        "import checkpoint as c\nprint(c.LIMIT)\n",
        ("LIMIT", "MOST"),
        "mine.py:2: c.LIMIT: checkpoint has no LIMIT",
    ),
    "a method": (
        "from checkpoint import Checkpoints\ncheckpoints = Checkpoints(1)\n"
        "checkpoints.stop_if_told()\n",
        ("    def stop_if_told", "    def stop"),
        "mine.py:3: checkpoints.stop_if_told: Checkpoints has no stop_if_told",
    ),
    "an attribute": (
        "from checkpoint import Checkpoints\nprint(Checkpoints(1).keep)\n",
        (".keep", ".kept"),
        "mine.py:2: Checkpoints(1).keep: Checkpoints has no keep",
    ),
    "a keyword": (
        "from checkpoint import load_weights\nload_weights(1, strict=False)\n",
        (", strict=True", ""),
        "mine.py:2: load_weights(strict=...): load_weights has no argument strict",
    ),
    "a keyword of a class": (
        "import checkpoint\ncheckpoint.Checkpoints(1, keep=3)\n",
        (", keep=2", ""),
        "mine.py:2: checkpoint.Checkpoints(keep=...): checkpoint.Checkpoints has no argument keep",
    ),
    "a value more": (
        "from checkpoint import load_weights\nload_weights(1, False)\n",
        (", strict=True", ""),
        "mine.py:2: load_weights(...) gets 2 positional arguments, but accepts 1",
    ),
    "a value less": (
        "from checkpoint import load_weights\nload_weights(1)\n",
        ("=True", ""),
        "mine.py:2: load_weights(...) is missing strict",
    ),
}


@pytest.mark.parametrize("name", MODULE)
def test_what_a_module_no_longer_has(name: str) -> None:
    mine, changed, expected = MODULE[name]
    before = files("", checkpoint=CHECKPOINT, mine=mine)
    text = before["checkpoint.py"].replace(*changed)
    assert told(before, {**before, "checkpoint.py": text}) == [expected]


def test_a_module_that_goes() -> None:
    before = files("", files="def load():\n    pass\n", mine="import files\nfiles.load()\n")
    after = {name: text for name, text in before.items() if name != "files.py"}
    assert told(before, after) == ["mine.py:1: imports the module files, which does not exist"]
    inside = {f"pkg/{name}": text for name, text in before.items()}
    inside["pkg/mine.py"] = "from . import files\nfiles.load()\n"
    inside["pkg/__init__.py"] = ""
    after = {name: text for name, text in inside.items() if name != "pkg/files.py"}
    assert len(told(inside, after)) == 1


def test_names_and_their_order() -> None:
    text = "def main(x):\n    y = x\n    z = 1\n    print(y, z)\n"
    before = {"train.py": text}
    assert told(before, {"train.py": text.replace("    z = 1\n", "")}) == [
        "train.py:3: the name z is not defined"
    ]
    late = "def main(x):\n    y = x\n    print(y, z)\n    z = 1\n"
    assert told(before, {"train.py": late}) == ["train.py:3: the name z is used before it is set"]
    loop = (
        "def main(x):\n    for y in x:\n        print([z for z in y], lambda: w)\n    w = z = 1\n"
    )
    assert told(before, {"train.py": loop}) == []
    two = {"train.py": f"def one(z):\n    return z\n\n\n{text}"}
    after = without(two, "train.py", "    z = 1\n")
    assert told(two, after) == ["train.py:7: the name z is not defined"], "not where it is"


LOOP = """
    def evaluate(model, name):
        return {f"{name}_loss": model, f"{name}_accuracy": model}


    def main(config, tracker):
        for epoch in range(3):
            for step in range(3):
                values = {"loss": 1}
                print(values)
            metrics = {"train_loss": 1}
            metrics |= evaluate(1, "val")
            tracker.log(metrics)
            MINE
"""
BY_STEPS = LOOP.replace('            metrics |= evaluate(1, "val")\n', "").replace(
    "                print(values)\n",
    '                print(values)\n                found = evaluate(1, "val")\n'
    "                print(found)\n",
)
READS = {
    "a key": ('print(metrics["val_loss"])', "'val_loss'"),
    "get": ('print(metrics.get("val_loss"))', "'val_loss'"),
    "in": ('print("val_accuracy" in metrics)', "'val_accuracy'"),
    "all of it": ("tracker.write(metrics)", "'val_accuracy', 'val_loss'"),
    "a part of it": ("print({k: v for k, v in metrics.items()})", "'val_accuracy', 'val_loss'"),
}


@pytest.mark.parametrize("name", READS)
def test_a_key_that_moves_elsewhere(name: str) -> None:
    line, keys = READS[name]
    before, after = (files(text.replace("MINE", line)) for text in (LOOP, BY_STEPS))
    rendered = files(BY_STEPS.replace("MINE", "pass"))
    (found,) = told(before, after, rendered)
    assert found.startswith("train.py:") and keys in found and "metrics no longer has" in found
    assert told(before, before, rendered) == []


@pytest.mark.parametrize(
    "line",
    [
        'print(metrics["train_loss"])',
        'metrics.update({"own": epoch})',
        "metrics = {}; print(metrics)",
        "print(epoch)",
    ],
)
def test_a_key_that_stays(line: str) -> None:
    before, after = (files(text.replace("MINE", line)) for text in (LOOP, BY_STEPS))
    assert told(before, after, files(BY_STEPS.replace("MINE", "pass"))) == []


def test_a_generated_message_that_is_printed_otherwise_reads_what_it_should() -> None:
    line = 'log(f"epoch {epoch} | {metrics}")'
    before, after = (
        files(text.replace("MINE", line.replace("log", "tracker.print")))
        for text in (LOOP, BY_STEPS)
    )
    assert told(before, after, files(BY_STEPS.replace("MINE", line))) == []
    (found,) = told(before, after, files(BY_STEPS.replace("MINE", line.replace("| ", ""))))
    assert "metrics no longer has" in found


EMA = """
    class Ema:
        def __init__(self, decay):
            self.decay = decay

        def update(self):
            pass

        def applied(self):
            pass
"""
USING = "def main(config):\n    ema = Ema(config.decay)\n    ema.update()\n    ema.applied()\n"
FIELDS = "class Config:\n    decay: float = 0.9\n\n\n"


def test_a_half_of_a_feature() -> None:
    rendered = {"ema.py": dedent(EMA), "train.py": f"from ema import Ema\n\n\n{FIELDS}{USING}"}
    before = {"train.py": "class Config:\n    x: int = 1\n\n\ndef main(config):\n    pass\n"}
    assert told(before, rendered, rendered) == []
    half = {**rendered, "train.py": rendered["train.py"].replace("    ema.update()\n", "")}
    assert told(before, half, rendered) == [
        "train.py:9: Ema is built, but its update() is never called"
    ]
    assert told(half, half, rendered) == [], "it was so before"
    unset = {**rendered, "train.py": rendered["train.py"].replace("config.decay", "0.9")}
    assert told(before, unset, rendered) == [
        "train.py:5: the setting decay has no effect: nothing reads it"
    ]
    other = rendered["train.py"].replace("ema.update()", "step(ema)")
    elsewhere = {**rendered, "train.py": other, "mine.py": "def step(ema):\n    ema.update()\n"}
    elsewhere["train.py"] = f"from mine import step\n{other}"
    assert told(before, elsewhere, rendered) == [], "it is called elsewhere"


def test_one_file_that_both_sides_write() -> None:
    best = 'def main(config):\n    save(config.output_dir / "best.pt")\n'
    own = {"train.py": best, "tests/test_own.py": best}
    rendered = {"train.py": "", "saves.py": f"\n\n{best}"}
    both = {**own, "saves.py": rendered["saves.py"]}
    text = 'saves.py:4: the file output_dir / "best.pt" is used in train.py:2, too'
    assert told(own, both, rendered) == [text]
    assert told(own, own, {"train.py": best}) == [], "both wrote the same line"
    assert told(both, both, rendered) == [], "it was there before"
    other = {**own, "saves.py": rendered["saves.py"].replace("best", "last")}
    assert told(own, other, {"saves.py": other["saves.py"]}) == []
    own, both, rendered = (
        {path: text.replace("config.output_dir", "folder") for path, text in files.items()}
        for files in (own, both, rendered)
    )
    assert told(own, both, rendered) == [], "a variable may be another folder in another file"


def test_a_file_that_is_no_longer_written() -> None:
    writes = 'def main(config):\n    save(config.output_dir / "all.csv")\n'
    reads = 'def test_it(folder):\n    assert (folder / "all.csv").exists()\n'
    before = {"train.py": writes, "tests/test_own.py": reads, "plot.py": reads}
    after = {**before, "train.py": "def main(config):\n    pass\n"}
    assert told(before, after, {"train.py": after["train.py"]}) == [
        f'{path}:2: "all.csv" is no longer written' for path in ("plot.py", "tests/test_own.py")
    ]
    assert told(before, after, after) == [], "it is meant"
    assert told(after, after, {}) == told(before, before, {}) == []


KEEPING = """\
def main(config, loader):
    step, best, waited, history, seen, lowest = 0, 1.0, 0, [], {}, None
    for epoch in range(config.epochs):
        loss = 0.0
        for batch in loader:
            loss += train(batch)
            step += 1
        waited = 0 if loss < best else waited + 1
        history.append(loss)
        seen[epoch] = loss
        best = min(best, loss)
        if waited > 3:
            lowest = best
    save(history, loss, lowest)
"""


def test_what_new_checkpoints_lack() -> None:
    before = {"train.py": KEEPING}
    loop = "    for epoch"
    saving = KEEPING.replace(loop, f"    checkpoints = Checkpoints(step)\n{loop}")
    fresh = re.sub("waited|history|best|lowest", "step", saving)
    found = told(before, {"train.py": saving}, {"train.py": fresh})
    why = "is kept in the loop, but checkpoints lack it: a resumed run starts it anew"
    assert [row for row in found if "kept" in row] == [
        f"train.py:2: {name} {why}" for name in ("best", "history", "lowest", "waited")
    ]
    assert not any("kept" in row for row in told({"train.py": saving}, {"train.py": saving}, {}))


NOTEBOOK_TEXT = """{"cells": [
    {"cell_type": "markdown", "source": ["print(Config().max_norm)"]},
    {"cell_type": "code", "source": ["%matplotlib inline\\n", "from train import Config"]},
    {"cell_type": "code", "source": "if Config:\\n    !ls\\nprint(Config().max_norm)"}
]}"""


def test_a_notebook() -> None:
    before = {**files(CONFIG), "look.ipynb": NOTEBOOK_TEXT, "broken.ipynb": "{"}
    after = without(before, "train.py", "    max_norm: float = 1.0\n")
    assert told(before, after) == ["look.ipynb:cell 3: Config().max_norm: Config has no max_norm"]


def test_flags_of_a_script() -> None:
    script = "python train.py --max-norm 2 --epochs 3  # --max-norm\necho --max-norm-x\n"
    before = {**files(CONFIG), "run.sh": script, "run.sbatch": "train.py --no-max-norm"}
    after = without(before, "train.py", "    max_norm: float = 1.0\n")
    assert told(before, after) == [
        "run.sbatch:1: --no-max-norm: Config has no max_norm",
        "run.sh:1: --max-norm: Config has no max_norm",
    ]
    assert told(after, after) == []


def test_a_large_folder_is_looked_at_where_it_has_to_do_with_the_project() -> None:
    before = files(CONFIG, near="from train import Config\nprint(Config().max_norm)\n")
    before |= {f"other/m{number}.py": "import os\n" * 50 for number in range(1000)}
    after = without(before, "train.py", "    max_norm: float = 1.0\n")
    start = time.process_time()
    found = told(before, after, files(CONFIG.replace("        max_norm: float = 1.0\n", "")))
    assert found == ["near.py:2: Config().max_norm: Config has no max_norm"]
    assert time.process_time() - start < 1


def test_loops_in_loops_take_no_time() -> None:
    loops = "".join(f"{'    ' * depth}for i{depth} in x:\n" for depth in range(1, 18))
    text = "def main(x):\n    m = {'a': 1}\n" + loops + "    " * 18 + "print(m)\n"
    before = {"train.py": text}
    start = time.process_time()
    assert told(before, {"train.py": f"{text}\n# more\n"}) == []
    assert time.process_time() - start < 1


# in projects


def test_a_warning_is_shown_and_the_command_exits_with_1(cli: Cli, tmp_path: Path) -> None:
    project = tmp_path / "digits"
    assert cli("new", project, "--yes").code == 0
    script = "from train import Config, main\n\nmain(Config(max_grad_norm=0.5))\n"
    (project / "tools").mkdir()
    (project / "tools" / "sweep.py").write_text(script)
    warning = "tools/sweep.py:3: Config(max_grad_norm=...): Config has no field max_grad_norm"
    result = cli("remove", "clipping", project, "--dry-run")
    assert result.code == 1 and warning in result.err
    result = cli("remove", "clipping", project)
    assert result.code == 1 and warning in result.out and "`scaffold undo`" in result.out
    assert (project / "tools" / "sweep.py").read_text() == script
    result = cli("add", "ema", project)
    assert result.code == 0, "it was said once"


RETURNS = {
    "2 values": "return {'loss': 1.0}, 2",
    "a dict": "return {'loss': 1.0}",
    "a dict by name": "metrics = {'loss': 1.0}\n        return metrics",
    "one value": "return 1.0 / 2",
    "nothing": "print('loss')",
}
CALLS = """
    def evaluate(model):
        {returns}

    def main(model):
        {before}metrics = evaluate(model)
        return metrics
"""


@pytest.mark.parametrize("own", RETURNS)
@pytest.mark.parametrize("generated", RETURNS)
def test_a_new_call_of_a_function_that_returns_something_else(own: str, generated: str) -> None:
    mine, theirs = RETURNS[own], RETURNS[generated]
    first = "first = evaluate(model)\n        "
    before = files(CALLS.format(returns=mine, before=""))
    after = files(CALLS.format(returns=mine, before=first))
    rendered = files(CALLS.format(returns=theirs, before=first))
    had, needed = own.removesuffix(" by name"), generated.removesuffix(" by name")
    line = 6 + mine.count("\n")
    said = f"train.py:{line}: evaluate() returns {had}, and this line needs {needed}"
    assert told(before, after, rendered) == ([] if had == needed else [said])
    # the owner's own calls are right, and those whose result nobody reads
    assert told(after, after, rendered) == []
    unread = {path: text.replace("first = ", "") for path, text in after.items()}
    assert told(before, unread, unread | {"other.py": ""}) == []


def test_the_owner_needs_what_a_function_no_longer_returns() -> None:
    sweep = "from train import evaluate\n\nscore = evaluate(1)['loss']\nevaluate(2)\n"
    before = files(CALLS.format(returns=RETURNS["a dict"], before=""), sweep=sweep)
    after = files(CALLS.format(returns=RETURNS["nothing"], before=""), sweep=sweep)
    said = "evaluate() no longer returns a value, and this line needs one"
    assert told(before, after) == [f"sweep.py:3: {said}", f"train.py:6: {said}"]
    assert told(after, before) == told(after, after) == []


def code(files: dict[str, str]) -> Files:
    return {path: text for path, text in files.items() if path.endswith(".py")}


@pytest.mark.parametrize("task", in_turns(load_catalog().tasks, 7))
def test_no_false_alarm_without_edits(task: str) -> None:
    """Not even against an empty render, from which nothing is known to be meant."""
    catalog = load_catalog()
    on = as_many_as_possible(catalog, task=task)
    usual = code(dict(render({"project.task": task})))
    full = code(dict(render(given_for(catalog, on, project__task=task))))
    for before, after in ((usual, full), (full, usual)):
        assert [text for text in told(before, after) if "but elsewhere" not in text] == []
        assert told(before, after, after) == []


def test_it_takes_less_than_a_second() -> None:
    catalog = load_catalog()
    feature = ways(catalog, catalog.features["ema"])[0]
    before, after = code(dict(render({}))), code(dict(render(given_for(catalog, [feature]))))
    after["train.py"] += "\n# mine\n"
    start = time.process_time()
    told(before, after, code(dict(render(given_for(catalog, [feature])))))
    assert time.process_time() - start < 1, "four times what it takes on a quiet machine"
