"""Edits that people make to a rendered project, updates of its answers, and what must come out.

An edit is a function that changes the files of a project in place. It finds its lines at any
indentation, so the right result of an update needs no merge: it is the same edit, made to the
project as it is rendered with the new answers. Where two lines at one spot may come in either
order, a scenario lists both results. Where a person has to decide, it says in which files.
"""

import io
import itertools
import re
import subprocess
import sys
import textwrap
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import black

from scaffold.answers.catalog import Value
from support.rendering import render

Files = dict[str, str]
Edit = Callable[[Files], None]
Given = Mapping[str, Value]

TRAIN, CALLBACKS, METRICS, DATA, CHECKPOINT, WEIGHTS, PROOF = (
    "train.py",
    "callbacks.py",
    "metrics.py",
    "data.py",
    "checkpoint.py",
    "weights.py",
    "tests/helpers.py",
)
README, PYPROJECT, LAUNCH, ANSWERS = (
    "README.md",
    "pyproject.toml",
    "accelerate.yaml",
    "scaffold.toml",
)

EMA = {"features.ema.enabled": True}
FIRST = {"features.first_evaluation.enabled": True}
NO_EMA = {"features.ema.enabled": False}
BF16 = {"hardware.mixed_precision": "bf16"}
WINDOW = {"training.gradient_accumulation_steps": 4}
NO_WINDOW = {"training.gradient_accumulation_steps": 1}
TENSORBOARD = {"features.tracker.enabled": True, "features.tracker.kind": "tensorboard"}
WANDB = {"features.tracker.enabled": True, "features.tracker.kind": "wandb"}
NO_TRACKER = {"features.tracker.enabled": False}
CLIP = {"features.clipping.enabled": True}
NO_CLIP = {"features.clipping.enabled": False}
STOP = {"features.early_stopping.enabled": True}
NO_STOP = {"features.early_stopping.enabled": False}
LINEAR = {"features.schedule.kind": "linear"}
ONE_CYCLE = {"features.schedule.kind": "one_cycle"}
NO_SCHEDULE = {"features.schedule.enabled": False}
SHIFT = {"features.augmentation.enabled": True}
CURVES = {"features.learning_curves.enabled": True}
PREEMPTION = {"features.preemption.enabled": True}
NO_PREEMPTION = {"features.preemption.enabled": False}
NAN = {"features.stop_on_nan.enabled": True}
NO_NAN = {"features.stop_on_nan.enabled": False}
BEST = {"features.best_model.enabled": True}
NO_BEST = {"features.best_model.enabled": False}
NO_METRICS = {"features.metrics_file.enabled": False}
FOUR = {"hardware.num_processes": 4, "hardware.distributed_type": "MULTI_GPU"}


@dataclass(frozen=True)
class Conflict:
    """A person has to decide, in one of these files and in no other."""

    paths: tuple[str, ...]


@dataclass(frozen=True)
class Scenario:
    name: str
    group: str
    edit: Edit
    updates: tuple[Given, ...]  # one after the other, of which each changes these answers
    expected: tuple[Edit, ...] | Conflict  # any of these edits of the new render
    before: Given
    ordered: bool = False  # the order of imports is part of the edit

    def renders(self) -> list[Given]:
        """The answers of all renders: the first, and that of each update."""
        given = [dict(self.before)]
        for changed in self.updates:
            given.append({**given[-1], **changed})
        return given

    def __str__(self) -> str:
        return self.name


SCENARIOS: list[Scenario] = []


def scenario(
    name: str,
    edit: Edit,
    *updates: Given,
    expect: Edit | Conflict | None = None,
    also: Sequence[Edit] = (),
    before: Given | None = None,
    ordered: bool = False,
) -> None:
    """The right result is the same edit of the new render, unless `expect` says something else."""
    expected = expect if isinstance(expect, Conflict) else (expect or edit, *also)
    group = name.partition(":")[0]
    start = {**BEST, **(before or {})}  # the best model: more lines that can be edited
    SCENARIOS.append(Scenario(name, group, edit, updates, expected, start, ordered))


def decide(*paths: str) -> Conflict:
    return Conflict(paths)


# ---- how edits are made -----------------------------------------------------------------------


def both(*edits: Edit) -> Edit:
    """All of these, one after the other."""

    def edit(files: Files) -> None:
        for one in edits:
            one(files)

    return edit


def nothing(files: Files) -> None:
    """The new render as it is."""


def _block(text: str) -> list[str]:
    return textwrap.dedent(text).strip("\n").splitlines()


def home(files: Files, path: str, line: str) -> str:
    """The file with a line of train.py, whose settings are in config.py."""
    there = path != TRAIN or _find(files[path].splitlines(), _block(line))
    return path if there or "config.py" not in files else "config.py"


def _find(lines: Sequence[str], wanted: Sequence[str]) -> list[tuple[int, str]]:
    """Where these lines are, at any one indentation, which is returned too.

    A line that ends with "..." stands for all lines that begin like it: its comment may change.
    """
    found = []
    for start in range(len(lines) - len(wanted) + 1):
        margin = re.match(" *", lines[start])[0]
        if all(
            (
                line.startswith(margin + one.removesuffix("..."))
                if one.endswith("...")
                else line == (margin + one if one else "")
            )
            for line, one in zip(lines[start:], wanted, strict=False)
        ):
            found.append((start, margin))
    return found


def change(path: str, old: str, new: str, times: int = 1) -> Edit:
    """Whole lines become others, at the indentation that they have."""

    def edit(files: Files) -> None:
        place = home(files, path, old)
        lines = files[place].splitlines()
        wanted, instead = _block(old), _block(new)
        found = _find(lines, wanted)
        assert len(found) == times, (path, old, len(found))
        for start, margin in reversed(found):
            end = start + len(wanted)
            there = dict(
                zip(wanted, (line[len(margin) :] for line in lines[start:end]), strict=True)
            )
            now = [there.get(line, line) for line in instead]
            lines[start:end] = [margin + line if line else "" for line in now]
        files[place] = "\n".join(lines) + "\n"

    return edit


def after(path: str, anchor: str, new: str, times: int = 1) -> Edit:
    return change(path, anchor, f"{textwrap.dedent(anchor)}\n{textwrap.dedent(new)}", times)


def before(path: str, anchor: str, new: str, times: int = 1) -> Edit:
    return change(path, anchor, f"{textwrap.dedent(new)}\n{textwrap.dedent(anchor)}", times)


def delete(path: str, old: str, times: int = 1) -> Edit:
    return change(path, old, "", times)


def words(path: str, old: str, new: str, times: int = 1) -> Edit:
    """A part of a line becomes another."""

    def edit(files: Files) -> None:
        there = path != TRAIN or old in files[path] or "config.py" not in files
        place = path if there else "config.py"
        assert files[place].count(old) == times, (path, old, files[place].count(old))
        files[place] = files[place].replace(old, new)

    return edit


def everywhere(old: str, new: str, *paths: str) -> Edit:
    """As often as it is there."""

    def edit(files: Files) -> None:
        for path in paths:
            files[path] = files[path].replace(old, new)

    return edit


def in_tests(old: str, new: str) -> Edit:
    """As often as it is in the project's tests."""

    def edit(files: Files) -> None:
        for path in files:
            if path.startswith("tests/"):
                files[path] = files[path].replace(old, new)

    return edit


def comment(field: str, text: str) -> Edit:
    """A field of Config has another comment, or none."""
    ending = f"  # {text}" if text else ""
    return substitute(TRAIN, rf"(\n    {field}: [^#\n]*?)  # .*", rf"\1{ending}")


def default(field: str, value: str) -> Edit:
    """A field of Config has another default."""
    return substitute(TRAIN, rf"(\n    {field}: [^=\n]*= )\S+", rf"\g<1>{value}")


def by_hand(path: str, start: str, anchor: str) -> Edit:
    """A line as the default project has it, in front of another."""

    def edit(files: Files) -> None:
        rows = [row.strip() for row in render({})[path].splitlines()]
        (row,) = (row for row in rows if row.startswith(start))
        before(path, anchor, row)(files)

    return edit


def substitute(path: str, pattern: str, new: str) -> Edit:
    def edit(files: Files) -> None:
        place = path
        if path == TRAIN and "config.py" in files and not re.search(pattern, files[path]):
            place = "config.py"
        files[place], count = re.subn(pattern, new, files[place])
        assert count == 1, (path, pattern, count)

    return edit


def append(path: str, text: str) -> Edit:
    def edit(files: Files) -> None:
        files[path] += textwrap.dedent(text)

    return edit


def create(path: str, text: str) -> Edit:
    def edit(files: Files) -> None:
        files[path] = textwrap.dedent(text)

    return edit


def remove(path: str) -> Edit:
    def edit(files: Files) -> None:
        del files[path]

    return edit


def move(path: str, target: str) -> Edit:
    def edit(files: Files) -> None:
        files[target] = files.pop(path)

    return edit


def cut(path: str, first: str, last: str, instead: str = "") -> Edit:
    """All lines from one to another go, both included."""

    def edit(files: Files) -> None:
        start, end, margin = _span(files, path, first, last)
        lines = files[path].splitlines()
        lines[start:end] = [margin + line if line else "" for line in _block(instead)]
        files[path] = "\n".join(lines) + "\n"

    return edit


def _span(files: Files, path: str, first: str, last: str) -> tuple[int, int, str]:
    lines = files[path].splitlines()
    starts = _find(lines, [first])
    assert len(starts) == 1, (path, first, len(starts))
    start, margin = starts[0]
    ends = [place for place in _find(lines, [last]) if place[0] >= start]
    end = next((number for number, space in ends if space == margin), ends[0][0])
    return start, end + 1, margin


def carry(path: str, first: str, last: str, anchor: str) -> Edit:
    """All lines from one to another move to where another line is, in front of it."""

    def edit(files: Files) -> None:
        start, end, _ = _span(files, path, first, last)
        lines = files[path].splitlines()
        moved = [*lines[start:end], "", ""]
        del lines[start:end]
        while not lines[start - 1] and not lines[start]:  # black has two blank lines, not four
            del lines[start]
        (place, _), *others = _find(lines, [anchor])
        assert not others, anchor
        lines[place:place] = moved
        lines[place - 2 : place] = [""] * 2
        files[path] = "\n".join(lines) + "\n"

    return edit


def indent(path: str, first: str, last: str, head: str, tail: str = "") -> Edit:
    """All lines from one to another go into a block with this head."""

    def edit(files: Files) -> None:
        start, end, margin = _span(files, path, first, last)
        lines = files[path].splitlines()
        wrapped = [f"    {line}" if line else "" for line in lines[start:end]]
        heads, tails = ([margin + line for line in _block(text)] for text in (head, tail))
        lines[start:end] = [*heads, *wrapped, *tails]
        files[path] = "\n".join(lines) + "\n"

    return edit


def import_name(path: str, module: str, name: str) -> Edit:
    """One more name in an import that is there."""

    def edit(files: Files) -> None:
        pattern = rf"^from {module} import (\(\n    )?"
        files[path], count = re.subn(
            pattern, lambda match: f"{match[0]}{name}, ", files[path], flags=re.MULTILINE
        )
        assert count == 1, (path, module)
        files[path] = _black(files[path], 100)

    return edit


def rename(old: str, new: str, *paths: str) -> Edit:
    """A name in code, but not in comments, after a dot, or as the keyword of a call."""

    def edit(files: Files) -> None:
        for path in paths:
            files[path] = _black(_rename(files[path], old, new), 100)

    return edit


def _rename(text: str, old: str, new: str) -> str:
    lines = text.splitlines(keepends=True)
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    places, depth = [], 0
    for number, token in enumerate(tokens):
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        if token.type == tokenize.NAME and token.string == old:
            argument = depth and tokens[number + 1].string == "="
            if tokens[number - 1].string != "." and not argument:
                places.append((token, new))
        elif token.type == tokenize.STRING and re.match("(?i)r?f", token.string):
            inside = re.sub(
                r"\{[^{}]*\}",
                lambda match: re.sub(rf"(?<![.\w\"']){old}\b", new, match[0]),
                token.string,
            )
            places.append((token, inside))
    for token, instead in reversed(places):
        (row, start), (last, end) = token.start, token.end
        if row == last:
            line = lines[row - 1]
            lines[row - 1] = line[:start] + instead + line[end:]
    return "".join(lines)


@cache
def _black(text: str, line_length: int, magic_trailing_comma: bool = True) -> str:
    mode = black.Mode(line_length=line_length, magic_trailing_comma=magic_trailing_comma)
    return black.format_str(text, mode=mode)


def formatted(line_length: int, *paths: str) -> Edit:
    """Black with another line length, in these files or in all."""

    def edit(files: Files) -> None:
        for path in paths or [path for path in files if path.endswith(".py")]:
            # a trailing comma that black left would keep its lines apart in a longer line too
            files[path] = _black(files[path], line_length, line_length < 100)

    return edit


def single_quotes(line_length: int, *paths: str) -> Edit:
    """Ruff's formatter with single quotes."""

    def edit(files: Files) -> None:
        for path in paths:
            files[path] = _ruff(files[path], line_length)

    return edit


@cache
def _ruff(text: str, line_length: int) -> str:
    options = ["--isolated", "--no-cache", f"--line-length={line_length}"]
    command = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        *options,
        "--config=format.quote-style='single'",
        "-",
    ]
    return subprocess.run(command, input=text, text=True, capture_output=True, check=True).stdout


def two_spaces(*paths: str) -> Edit:
    """Indentation by two spaces, also inside brackets and docstrings."""

    def edit(files: Files) -> None:
        for path in paths:
            halved = re.sub("^ +", lambda match: match[0][::2], files[path], flags=re.MULTILINE)
            files[path] = halved

    return edit


def crlf(*paths: str) -> Edit:
    """Newlines as Windows has them, in these files or in all."""

    def edit(files: Files) -> None:
        for path in paths or tuple(files):
            files[path] = files[path].replace("\n", "\r\n")

    return edit


def without_comments(path: str, first: str, last: str, but: str = "-") -> Edit:
    """No comment at the end of any line, from one line to another, but of those that begin so."""

    def edit(files: Files) -> None:
        lines = files[path].splitlines()
        start = next(number for number, line in enumerate(lines) if line.strip().startswith(first))
        end = next(
            number
            for number, line in enumerate(lines)
            if number > start and line.strip().startswith(last)
        )
        lines[start : end + 1] = [
            line if line.strip().startswith(but) else line.partition("  #")[0]
            for line in lines[start : end + 1]
        ]
        files[path] = "\n".join(lines) + "\n"

    return edit


# ---- what results are compared by ---------------------------------------------------------------


@cache
def canonical(path: str, text: str) -> object:
    """What a file says: not how it is formatted, nor in which order it imports."""
    text = text.replace("\r\n", "\n")
    if path.endswith(".py"):
        try:
            return list(_statements(text))
        except (SyntaxError, tokenize.TokenError, black.InvalidInput):
            pass
    return [line.rstrip() for line in text.rstrip().splitlines()]


def _statements(text: str) -> Iterator[object]:
    """The lines of code and comments, as tokens; imports at the top level are sorted."""
    imports: set[tuple[str, ...]] = set()
    depth, line, seen = 0, [], []
    for token in tokenize.generate_tokens(io.StringIO(_black(text, 100, False)).readline):
        if token.type == tokenize.INDENT:
            depth += 1
        elif token.type == tokenize.DEDENT:
            depth -= 1
        elif token.type == tokenize.STRING and not line:
            # a docstring, of which black moves the lines with the indentation
            line.append(" ".join(token.string.split()))
        elif token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
            if line and depth == 0 and line[0] in ("import", "from"):
                imports |= set(_imported(line))
            elif line:
                seen.append((depth, tuple(line)))
            line = []
        elif token.type == tokenize.COMMENT:
            line.append(token.string)
            # a comment on a line of its own belongs to no statement, but to a depth
            if token.line.strip() == token.string and len(line) == 1:
                seen.append((len(token.line) - len(token.line.lstrip()), tuple(line)))
                line = []
        elif token.type != tokenize.NL:
            line.append(token.string)
    yield sorted(imports)
    yield from seen


def _imported(line: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """An import of several names as several imports."""
    if line[0] == "import":
        head, names = ("import",), " ".join(line[1:])
    else:
        place = line.index("import")
        head, names = tuple(line[: place + 1]), " ".join(line[place + 1 :])
    comments = names.partition("#")
    for name in comments[0].strip("() ").split(","):
        if name.strip():
            yield (*head, name.strip(), comments[2])


MARKER = re.compile(rb"^(<<<<<<< |>>>>>>> )", re.MULTILINE)
# what a tool writes for itself, and what git or an editor leaves behind
OWN = re.compile(
    r"(^|/)(\.scaffold|\.git|\.pytest_cache|__pycache__)/|\.(copier-answers\.yml|orig)$"
)


def own_file(path: str) -> bool:
    return bool(OWN.search(path)) or path in (".copier-answers.yml", ".cruft.json")


@dataclass(frozen=True)
class Outcome:
    """What a tool made of a project."""

    files: Mapping[str, bytes]
    failed: bool = False  # it said by its exit status that a person has to look
    unmerged: frozenset[str] = frozenset()  # paths that git has no one version of

    def conflicts(self) -> set[str]:
        """The files in which a person has to decide; "?" where the tool does not say it there."""
        marked = {path for path, data in self.files.items() if MARKER.search(data)}
        rejected = {path.removesuffix(".rej") for path in self.files if path.endswith(".rej")}
        found = marked | rejected | self.unmerged
        return found or ({"?"} if self.failed else set())


def judge(scenario: Scenario, renders: Sequence[Files], outcome: Outcome) -> tuple[str, str]:
    """Right, conflict or wrong, and why; the last render is that with the new answers."""
    conflicts = outcome.conflicts()
    if isinstance(scenario.expected, Conflict):
        if not conflicts:
            return "wrong", "a person had to decide, but there is no conflict"
        if conflicts - {*scenario.expected.paths, "?"}:
            return "conflict", f"also in {sorted(conflicts - set(scenario.expected.paths))}"
        return "right", ""
    if conflicts:
        return "conflict", f"in {sorted(conflicts)}"
    reasons = []
    for edit in scenario.expected:
        expected = dict(renders[-1])
        edit(expected)
        reasons.append(difference(expected, outcome.files))
        if not reasons[-1]:
            lost = lost_layout(scenario, renders[0], expected, outcome.files)
            return ("wrong", lost) if lost else ("right", "")
    return "wrong", reasons[0]


def difference(expected: Files, got: Mapping[str, bytes]) -> str:
    """What is not as expected, or nothing."""
    there = {path for path in got if not own_file(path)}
    for path in sorted(there ^ set(expected)):
        return f"{path} is {'there' if path in there else 'missing'}"
    for path, text in expected.items():
        found = got[path].decode(errors="replace")
        if found != text and canonical(path, found) != canonical(path, text):
            return f"{path} differs"
    return ""


def lost_layout(scenario: Scenario, first: Files, expected: Files, got: Mapping[str, bytes]) -> str:
    """A file that its owner laid out anew, and that is not laid out so any more.

    The lines that the update brings may be laid out in another way.
    """
    mine = dict(first)
    scenario.edit(mine)
    if scenario.ordered and _modules(expected) != _modules(
        {path: data.decode(errors="replace") for path, data in got.items()}
    ):
        return "the imports are not in the order of the owner"
    for path, text in expected.items():
        own = _rows(mine.get(path, "")) - _rows(first.get(path, ""))
        kept = own & _rows(text)
        if kept.total() >= (1 if scenario.group == "dialect" else 15):
            still = kept & _rows(got[path].decode(errors="replace"))
            if still.total() < 0.8 * kept.total():
                return f"{path} is laid out as its owner did not"
    return ""


def _modules(files: Mapping[str, str]) -> list[str]:
    """What the loop imports from, in the order in which it does."""
    return re.findall(r"^(?:from|import) (\S+)", files[TRAIN], flags=re.MULTILINE)


def _rows(text: str) -> Counter[str]:
    return Counter(row for row in text.splitlines(keepends=True) if row.strip())


# ---- the scenarios ------------------------------------------------------------------------------

READ = 'values = {"loss": train_loss.read(), "lr": optimizer.param_groups[0]["lr"]}'
LOG_EPOCH = 'log(f"epoch {done:.5g}/{config.epochs} | {format_metrics(metrics)}")'
LOSS = "loss = compute_loss(model(images), labels).mean()"
COUNT_LOSS = "train_loss.add(loss, len(labels))"
VALIDATE = 'metrics |= evaluate(accelerator, model, val_loader, "val", config.limit_batches)'
TEST = 'metrics = evaluate(accelerator, model, test_loader, "test", config.limit_batches)'
ZERO_GRAD = "optimizer.zero_grad()"
CLIPPING = "grad_norm = accelerator.clip_grad_norm_(model.parameters(), config.max_grad_norm)"
LOOP = "for epoch in range(progress.epoch, config.epochs):"
LOOP_END = "best_model.load(model)"
MIN_DELTA = "min_delta: ..."
EMA_DECAY = "ema_decay: ..."
LIMIT = "limit_batches: ..."
LAST_FIELD = "resume: ..."
GROUPS = "schedule.step()"
SCHEDULE = "def build_schedule(optimizer: Optimizer, total_steps: int, config: Config) -> LambdaLR:"
COSINE = "return LambdaLR(optimizer, factor)"
EPOCH_DONE = "done = epoch + ..."
SAME_FOLDER = "config = broadcast_object_list([config])[0]  # the same output_dir on all processes"


# lines beside those of the update

scenario(
    "neighbours: own log line above a call that goes",
    after(TRAIN, READ, 'log(f"memory {torch.cuda.max_memory_allocated():,}")'),
    NO_NAN,
    before=NAN,
)
scenario(
    "neighbours: own line where one is inserted",
    after(TRAIN, ZERO_GRAD, "torch.cuda.empty_cache()"),
    EMA,
    also=[after(TRAIN, "ema.update()", "torch.cuda.empty_cache()")],
)
scenario(
    "neighbours: own line above a changed one",
    before("config.py", 'batch = f"batch ...', "config = replace(config, seed=1)"),
    WINDOW,
)
scenario(
    "neighbours: own line where a condition is inserted",
    after(TRAIN, ZERO_GRAD, "torch.cuda.empty_cache()"),
    BF16,
    also=[before(TRAIN, "progress.step += 1", "torch.cuda.empty_cache()")],
)
scenario(
    "neighbours: call in the line above an inserted one",
    change(TRAIN, ZERO_GRAD, "optimizer.zero_grad(set_to_none=False)"),
    EMA,
)
scenario(
    "neighbours: trailing comment above an inserted line",
    change(TRAIN, ZERO_GRAD, f"{ZERO_GRAD}  # which saves memory"),
    EMA,
)
scenario(
    "neighbours: condition below lines that go",
    change(
        TRAIN,
        """
        if progress.step >= total_steps and not progress.batch:  # resumed a finished run
            break
        model.train()
        """,
        """
        if progress.step >= total_steps - 1:
            break
        model.train()
        """,
    ),
    NO_STOP,
    before=STOP,
)
scenario(
    "neighbours: comment between two lines, of which one goes",
    before(TRAIN, GROUPS, "# the schedule, for all groups alike"),
    NO_CLIP,
)
scenario(
    "neighbours: two defaults beside each other",
    default("batch_size", "256"),
    {"training.learning_rate": 0.01},
)
scenario(
    "neighbours: comment of the line whose value changes",
    comment("learning_rate", "table 3 of the paper"),
    {"training.learning_rate": 0.01},
)
scenario(
    "neighbours: own line between two that both go",
    before(
        TRAIN,
        "accelerator.init_trackers(config.tracker_project, config=settings)",
        "log('starting')",
    ),
    NO_TRACKER,
    expect=after(TRAIN, SAME_FOLDER, "log('starting')"),
    before=TENSORBOARD,
)
scenario(
    "neighbours: log line deleted beside an inserted one",
    delete(TRAIN, LOG_EPOCH),
    TENSORBOARD,
)
scenario(
    "neighbours: docstring above lines that go",
    words(CALLBACKS, '"""Objects that the loop', '"""Our own objects that the loop'),
    NO_EMA,
    before=EMA,
)

# lines that the update indents

scenario(
    "indentation: keyword in the loss, in a window",
    change(
        TRAIN,
        LOSS,
        """
        loss = compute_loss(
            model(images), labels, label_smoothing=0.1
        ).mean()
    """,
    ),
    WINDOW,
)
FOCAL = '''
    def focal_loss(logits, labels, gamma: float = 2.0):
        """Cross entropy that counts what is already right for less."""
        losses = compute_loss(logits, labels)
        return ((1 - torch.exp(-losses)) ** gamma * losses).mean()
'''


def define(path: str, text: str, anchor: str) -> Edit:
    """A function above another line at the top level."""
    return before(path, anchor, textwrap.dedent(text).strip("\n") + "\n\n")


OWN_LOSS = both(
    define(TRAIN, FOCAL, "@torch.no_grad()"),
    change(TRAIN, LOSS, "loss = focal_loss(model(images), labels)"),
)
scenario("indentation: own loss, in a window", OWN_LOSS, WINDOW)
scenario("indentation: own loss, out of a window", OWN_LOSS, NO_WINDOW, before=WINDOW)
scenario(
    "indentation: lines between those of the forward pass",
    before(
        TRAIN,
        LOSS,
        """
        if config.seed:
            images = images + 0.01 * torch.randn_like(images)
            # never below black
            images = images.clamp(min=0)
    """,
    ),
    WINDOW,
)
scenario(
    "indentation: trailing comment, in a window",
    change(TRAIN, LOSS, f"{LOSS}  # of the batch"),
    WINDOW,
)
OWN_METRIC = after(TRAIN, VALIDATE, 'metrics["val_error"] = 1 - metrics["val_accuracy"]')
scenario("indentation: own metric, in the average", OWN_METRIC, EMA)
scenario("indentation: own metric, out of the average", OWN_METRIC, NO_EMA, before=EMA)
scenario("indentation: own metric, there and back", OWN_METRIC, EMA, NO_EMA)
scenario(
    "indentation: another criterion, in the average",
    words(TRAIN, 'update(metrics["val_accuracy"], model)', 'update(-metrics["val_loss"], model)'),
    EMA,
)
scenario(
    "indentation: own block at the end of the average",
    after(
        TRAIN,
        'early_stopping.update(metrics["val_accuracy"])',
        """
        if epoch % 5 == 0:
            save_weights(accelerator, model, config.output_dir / f"epoch_{epoch}.safetensors")
    """,
    ),
    EMA,
    also=[
        before(
            TRAIN,
            EPOCH_DONE,
            """
        if epoch % 5 == 0:
            save_weights(accelerator, model, config.output_dir / f"epoch_{epoch}.safetensors")
    """,
        )
    ],
    before=STOP,
)
PROFILED = indent(
    TRAIN,
    LOOP,
    "checkpoints.save()",
    "with torch.profiler.profile() as profiler:",
    "log(profiler.key_averages().table())",
)
scenario("indentation: loop in a profiler, and the average in it", PROFILED, EMA)
scenario("indentation: loop in a profiler, and a window in it", PROFILED, WINDOW)
scenario(
    "indentation: loop in a profiler, and a feature of it goes", PROFILED, NO_STOP, before=STOP
)
scenario(
    "indentation: own line in a loop, of which a window takes only a part into its own",
    after(TRAIN, ZERO_GRAD, "torch.cuda.empty_cache()"),
    WINDOW,
    before={"project.task": "text_classification"},
)
FINALLY = indent(
    TRAIN,
    LOOP,
    "checkpoints.save()",
    "try:",
    'finally:\n    log(f"ended at step {progress.step}")',
)
scenario("indentation: loop in try and finally, and a tracker", FINALLY, TENSORBOARD)
scenario("indentation: loop in try and finally, and a window", FINALLY, WINDOW)
scenario(
    "indentation: forward pass in a block of its own, in a window",
    indent(TRAIN, LOSS, COUNT_LOSS, "with accelerator.autocast():"),
    WINDOW,
)
STEP = '''
    def forward(model, images, labels, train_loss):
        """The loss of a batch, counted."""
        loss = compute_loss(model(images), labels).mean()
        train_loss.add(loss, len(labels))
        return loss
'''
scenario(
    "indentation: forward pass as a function, in a window",
    both(
        cut(TRAIN, LOSS, COUNT_LOSS, "loss = forward(model, images, labels, train_loss)"),
        define(TRAIN, STEP, "@torch.no_grad()"),
    ),
    WINDOW,
)

# imports

scenario(
    "imports: own import above one of the update",
    both(
        change(TRAIN, "import time", "import time\nimport warnings"),
        before(TRAIN, LOOP, 'warnings.simplefilter("ignore")'),
        after(TRAIN, LOOP_END, "warnings.resetwarnings()"),
    ),
    WINDOW,
)
THROUGHPUT = '''
    class Throughput:
        """Steps in a second."""

        def __init__(self) -> None:
            self.steps = 0

        def step(self) -> None:
            self.steps += 1
'''
OWN_CALLBACK = both(
    import_name(TRAIN, "callbacks", "Throughput"),
    before(TRAIN, "checkpoints.resume()", "throughput = Throughput()"),
    before(
        TRAIN,
        'if config.checkpoint_unit == "steps" and save_every and progress.step % save_every == 0:',
        "throughput.step()",
    ),
)
OWN_CLASS_LAST = both(OWN_CALLBACK, define(CALLBACKS, THROUGHPUT, "class BestModel:"))
scenario(
    "imports: own name in an import that grows, own class where one is inserted",
    OWN_CLASS_LAST,
    EMA,
    also=[both(OWN_CALLBACK, define(CALLBACKS, THROUGHPUT, "class Ema:"))],
)
scenario(
    "imports: own name in an import that shrinks, own class beside one that goes",
    OWN_CLASS_LAST,
    NO_STOP,
    before=STOP,
)


def alias(files: Files) -> None:
    text = files[TRAIN].replace("set_seed(", "seed_everything(")
    files[TRAIN] = re.sub(
        r"(import .*)\bset_seed$", r"\1set_seed as seed_everything", text, flags=re.MULTILINE
    )


scenario("imports: alias in an import that grows", alias, WINDOW)
scenario(
    "imports: another form of an import beside an inserted one",
    both(
        change(TRAIN, "import time", "from time import perf_counter"),
        change(
            TRAIN,
            "start, start_step = time.perf_counter(), progress.step",
            "start, start_step = perf_counter(), progress.step",
        ),
        words(TRAIN, "(time.perf_counter() - start)", "(perf_counter() - start)"),
    ),
    WINDOW,
)


def one_import_a_line(files: Files) -> None:
    def split(match: re.Match[str]) -> str:
        names = [name.strip() for name in match[2].split(",")]
        return "\n".join(f"from {match[1]} import {name}" for name in names)

    files[TRAIN] = re.sub(r"^from (\S+) import (.+)$", split, files[TRAIN], flags=re.MULTILINE)


scenario("imports: one name a line, and a name more", one_import_a_line, EMA)
QUIET = indent(
    TRAIN,
    "best_model.load(model)",
    "best_model.load(model)",
    "with suppress(FileNotFoundError):",
)
TEXTS = {"project.task": "language_model"}
scenario(
    "imports: the module that the update imports another name from",
    both(
        change(TRAIN, "import time", "import time\nfrom contextlib import suppress"),
        QUIET,
    ),
    WINDOW,
    before=TEXTS,
    expect=both(
        after(TRAIN, "from contextlib import nullcontext", "from contextlib import suppress"),
        QUIET,
    ),
)
DEGREES = after(TRAIN, VALIDATE, 'metrics["val_degrees"] = metrics["val_accuracy"] * 180 / pi')
scenario(
    "imports: own use of a name whose import goes",
    DEGREES,
    NO_SCHEDULE,
    expect=both(DEGREES, after(TRAIN, "from itertools import islice", "from math import pi")),
    before=NO_CLIP,
)
SGD = both(
    change(
        TRAIN, "from torch.optim import AdamW, Optimizer", "from torch.optim import SGD, Optimizer"
    ),
    change(
        TRAIN,
        "return AdamW(parameters, lr=config.learning_rate, weight_decay=config.weight_decay)",
        """
        return SGD(
            parameters,
            config.learning_rate,
            momentum=config.momentum,
            weight_decay=config.weight_decay,
        )
        """,
    ),
    after(TRAIN, "weight_decay: ...", "momentum: float = 0.9"),
    comment("weight_decay", ""),
)
scenario("imports: another optimizer, and the average", SGD, EMA)
scenario(
    "imports: another optimizer, and its weight decay from the answers",
    SGD,
    {"training.learning_rate": 0.1},
)

# fields of Config, keywords of a call, names of a list

scenario("fields: own field at the end", after(TRAIN, LAST_FIELD, "compile: bool = False"), EMA)
scenario(
    "fields: own field beside a changed one",
    after(TRAIN, "batch_size: ...", "crop: int = 0"),
    {"training.batch_size": 64},
)
scenario(
    "fields: own field where one is inserted",
    after(TRAIN, MIN_DELTA, "label_smoothing: float = 0.1"),
    EMA,
    also=[after(TRAIN, EMA_DECAY, "label_smoothing: float = 0.1")],
    before=STOP,
)
scenario(
    "fields: own field below one that goes",
    after(TRAIN, MIN_DELTA, "label_smoothing: float = 0.1"),
    NO_STOP,
    expect=before(TRAIN, "warmup_ratio: ...", "label_smoothing: float = 0.1"),
    before=STOP,
)
BARE = without_comments("config.py", "epochs: ", "resume: ")
scenario(
    "fields: no comments",
    BARE,
    EMA,
    also=[without_comments("config.py", "epochs: ", "resume: ", "ema_decay: ")],
)
scenario(
    "fields: own table in the class, and one field more",
    after(
        TRAIN,
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
FIRST_KEYWORD = words(
    TRAIN,
    "accelerator = Accelerator(\n",
    "accelerator = Accelerator(\n        step_scheduler_with_optimizer=False,\n",
)
OWN_KEYWORD = "step_scheduler_with_optimizer=False,"
OLD_KEYWORD = """
    # the data order depends ...
    dataloader_config=DataLoaderConfiguration(use_seedable_sampler=True, data_seed=config.seed),
"""


def keyword_orders(*new: str) -> list[Edit]:
    """The keywords of Accelerator(...) in all orders in which neighbours stay together."""
    now = "\n".join([*new, *_block(OLD_KEYWORD)])
    parts = [OWN_KEYWORD, "\n".join(new), "\n".join(_block(OLD_KEYWORD))]
    return [change(TRAIN, now, "\n".join(order)) for order in itertools.permutations(parts)]


scenario(
    "fields: own keyword where one is inserted",
    FIRST_KEYWORD,
    BF16,
    also=keyword_orders("mixed_precision=config.mixed_precision,"),
)
scenario(
    "fields: own keyword where two are inserted",
    FIRST_KEYWORD,
    WANDB,
    also=keyword_orders('log_with="wandb",', "project_dir=config.output_dir,"),
)
scenario(
    "fields: a keyword of the owner that the update gives otherwise",
    words(
        TRAIN,
        "accelerator = Accelerator(\n",
        'accelerator = Accelerator(\n        log_with="wandb",\n',
    ),
    TENSORBOARD,
    expect=decide(TRAIN),
)
scenario(
    "fields: own keyword in a call beside inserted lines",
    words(DATA, "        shuffle=True,\n", "        shuffle=True,\n        pin_memory=True,\n"),
    SHIFT,
)
scenario(
    "fields: own name in a list where one is inserted",
    before(CHECKPOINT, '"processes": ...', '"num_workers": "mine",'),
    WINDOW,
)
scenario(
    "fields: own entry in the settings of the proof",
    after(PROOF, '"max_steps": 0,', '"num_workers": 0,'),
    {**EMA, **WINDOW},
)
scenario(
    "fields: annotations of a signature above changed lines",
    words(
        TRAIN,
        "def evaluate(accelerator, model, loader, name, limit=0)",
        "def evaluate(accelerator, model: nn.Module, loader, name: str, limit: int = 0)",
    ),
    {**EMA, **WINDOW},
)

OWN_STATE = both(
    words(
        TRAIN, '"metrics_file": metrics_file', '"metrics_file": metrics_file, "sampler": sampler'
    ),
    before(
        TRAIN,
        'metrics_file = MetricsFile(config.output_dir / "metrics.jsonl")',
        "sampler = Sampler()",
    ),
    import_name(TRAIN, "data", "Sampler"),
    formatted(100, TRAIN),
)
scenario("fields: own state that checkpoints save, where one goes", OWN_STATE, NO_BEST)
OWN_STATES = both(
    words(TRAIN, '"best_model": best_model', '"sampler": sampler, "best_model": best_model'),
    before(TRAIN, "best_model = BestModel(...", "sampler = Sampler()"),
    import_name(TRAIN, "callbacks", "Sampler"),
    formatted(100, TRAIN),
)
scenario("fields: own state that checkpoints save, where one is inserted", OWN_STATES, EMA)

# code of one's own

scenario(
    "own code: a metric in evaluate",
    both(
        after(TRAIN, "correct += (predictions == labels).sum()", "top3 += top3_hits.sum()"),
        words(TRAIN, "loss_sum = correct = seen = 0", "loss_sum = correct = top3 = seen = 0"),
        before(
            TRAIN,
            "losses, predictions, labels = "
            "accelerator.gather_for_metrics((losses, predictions, labels))",
            """
            top3_hits = (logits.topk(3).indices == labels[:, None]).any(dim=-1)
            top3_hits = accelerator.gather_for_metrics(top3_hits)
        """,
        ),
        words(
            TRAIN,
            'f"{name}_accuracy": float(correct) / seen',
            'f"{name}_accuracy": float(correct) / seen, f"{name}_top3": float(top3) / seen',
        ),
        formatted(100, TRAIN),
    ),
    LINEAR,
)
PLOT = '''
    def plot(values: list[float], path: Path) -> None:
        """One value a line."""
        path.write_text("\\n".join(map(str, values)), encoding="utf-8")
'''
scenario(
    "own code: a function below one that changes", define(TRAIN, PLOT, "@torch.no_grad()"), LINEAR
)
scenario(
    "own code: a function below one that goes", define(TRAIN, PLOT, "@torch.no_grad()"), NO_SCHEDULE
)
scenario(
    "own code: a function above one that comes",
    define(TRAIN, PLOT, "@torch.no_grad()"),
    {"features.schedule.enabled": True},
    before=NO_SCHEDULE,
    also=[
        define(
            TRAIN,
            PLOT,
            SCHEDULE,
        )
    ],
)
scenario(
    "own code: a class at the end, above which one goes",
    append(CALLBACKS, "\n\n" + textwrap.dedent(THROUGHPUT).strip("\n") + "\n"),
    NO_NAN,
    before=NAN,
)
scenario(
    "own code: a method at the end of a class, below which one comes",
    change(
        CALLBACKS,
        """
            def load_state_dict(self, state: dict) -> None:
                self.best, self.stale = state["best"], state["stale"]
        """,
        """
            def load_state_dict(self, state: dict) -> None:
                self.best, self.stale = state["best"], state["stale"]

            def reset(self) -> None:
                self.stale = 0
        """,
    ),
    EMA,
    before=STOP,
)
WANDB_BY_HAND = both(
    after(TRAIN, "from torch.optim import AdamW, Optimizer", "import wandb"),
    before(TRAIN, "checkpoints.resume()", 'wandb.init(project="digits", config=vars(config))'),
    after(TRAIN, LOG_EPOCH, "wandb.log(metrics, step=progress.step)"),
)
scenario("own code: a tracker by hand, and the average", WANDB_BY_HAND, EMA)
scenario(
    "own code: a tracker by hand, and another one beside it",
    WANDB_BY_HAND,
    TENSORBOARD,
    also=[
        both(
            after(TRAIN, "from torch.optim import AdamW, Optimizer", "import wandb"),
            before(
                TRAIN, "checkpoints.resume()", 'wandb.init(project="digits", config=vars(config))'
            ),
            after(
                TRAIN,
                f"{LOG_EPOCH}\naccelerator.log(metrics, step=progress.step)",
                "wandb.log(metrics, step=progress.step)",
            ),
        )
    ],
)
FINISH = '''
    def weight_groups(model):
        """No weight decay for what has one dimension."""
        decayed = [weight for weight in model.parameters() if weight.ndim > 1]
        others = [weight for weight in model.parameters() if weight.ndim <= 1]
        return [{"params": decayed}, {"params": others, "weight_decay": 0.0}]
'''
OWN_OPTIMIZER = both(
    change(
        TRAIN,
        "parameters = model.parameters()",
        "parameters = weight_groups(model)",
    ),
    define(TRAIN, FINISH, "def main(config: Config) -> None:"),
)
scenario("own code: a part of main as a function", OWN_OPTIMIZER, {**EMA, **WINDOW})
TESTING = '''
    def test(accelerator, model, test_loader, config, progress, best_model, metrics_file):
        """Test, save the final weights."""
        best_model.load(model)
        save_weights(accelerator, model, config.output_dir / "model.safetensors")
        write_config(accelerator, config, config.output_dir)  # the settings of these weights
        metrics = evaluate(accelerator, model, test_loader, "test", config.limit_batches)
        log(f"done | {format_metrics(metrics)}")
        metrics_file.append(progress.step, metrics)
'''
# by its lines: the last is in the loop too
TESTED = textwrap.dedent(TESTING.partition('weights."""\n')[2])
CALLED = "test(accelerator, model, test_loader, config, progress, best_model, metrics_file)"
SPLIT = both(
    change(TRAIN, TESTED, CALLED),
    define(TRAIN, TESTING, "def main(config: Config) -> None:"),
)
scenario("own code: main split, and an update elsewhere", SPLIT, BF16)
scenario("own code: main split where the update wraps lines", SPLIT, EMA, expect=decide(TRAIN))
FINISHED = f"""
def finish(
    accelerator, model, test_loader, config, progress, checkpoints, best_model, metrics_file
):
    checkpoints.save()
{textwrap.indent(TESTED, "    ")}
"""
BEST_LINES, _, DONE_LINES = TESTED.partition("log(f")
AVERAGED_END = f"""
checkpoints.save()
with ema.applied():
{textwrap.indent(BEST_LINES, "    ").rstrip()}
log(f{DONE_LINES}
""".strip()
FINISHED_AVERAGE = f"""
def finish(
    accelerator, model, test_loader, config, progress, checkpoints, best_model, metrics_file, ema
):
{textwrap.indent(AVERAGED_END, "    ")}
"""
FINISH_AVERAGE = """
finish(
    accelerator,
    model,
    test_loader,
    config,
    progress,
    checkpoints,
    best_model,
    metrics_file,
    ema,
)
"""
scenario(
    "own code: main split where the update wraps a part of the lines",
    both(
        change(
            TRAIN,
            f"checkpoints.save()\n{TESTED}",
            "finish(accelerator, model, test_loader, config, progress, checkpoints, best_model, "
            "metrics_file)",
        ),
        define(TRAIN, FINISHED, "def main(config: Config) -> None:"),
    ),
    EMA,
    expect=both(
        change(TRAIN, AVERAGED_END, FINISH_AVERAGE),
        define(TRAIN, FINISHED_AVERAGE, "def main(config: Config) -> None:"),
    ),
)
for head, tail in (
    ("try:", "finally:\n    print('left')"),
    ("with torch.enable_grad():", ""),
    ("for stage in range(2):", ""),
):
    around = indent(
        TRAIN,
        "for epoch in range(progress.epoch, config.epochs):",
        "checkpoints.save()",
        head,
        tail,
    )
    scenario(f"own code: the loop in `{head}`, and lines in front of it", around, FIRST)
scenario(
    "own code: the test's evaluation deleted, where lines are wrapped",
    both(
        delete(TRAIN, TEST),
        change(
            TRAIN,
            """
            log(f"done | {format_metrics(metrics)}")
            metrics_file.append(progress.step, metrics)
        """,
            'log("done")',
        ),
    ),
    EMA,
)

# dialect

scenario("dialect: 79 characters, the average", formatted(79, TRAIN, CALLBACKS), EMA)
scenario("dialect: 88 characters, a window", formatted(88, TRAIN), WINDOW)
scenario("dialect: 79 characters, a tracker", formatted(79, TRAIN), TENSORBOARD)
scenario(
    "dialect: 120 characters everywhere, early stopping goes",
    formatted(120),
    NO_STOP,
    before=STOP,
)
scenario("dialect: single quotes, the average", single_quotes(100, TRAIN, CALLBACKS), EMA)
scenario("dialect: single quotes and 88 characters, a tracker", single_quotes(88, TRAIN), WANDB)
scenario("dialect: two spaces, the average", two_spaces(TRAIN), EMA)
scenario("dialect: two spaces, a window", two_spaces(TRAIN), WINDOW)
scenario("dialect: Windows newlines in one file", crlf(TRAIN), EMA)
scenario("dialect: Windows newlines in all files", crlf(), {**EMA, **WINDOW})
scenario("dialect: Windows newlines and an edit", both(OWN_METRIC, crlf(TRAIN)), EMA)
scenario(
    "dialect: 79 characters and edits", both(OWN_LOSS, OWN_METRIC, formatted(79, TRAIN)), WINDOW
)

# names

MODEL = rename("model", "net", TRAIN)
scenario("names: model -> net, also in lines that come", MODEL, EMA)
scenario("names: model -> net, in a window", MODEL, WINDOW)
CONFIG = rename("config", "cfg", TRAIN)
scenario("names: config -> cfg, and the average", CONFIG, EMA)
scenario("names: config -> cfg, but not the keyword of a call that comes", CONFIG, TENSORBOARD)
scenario("names: config -> cfg, and another schedule", CONFIG, LINEAR)
scenario("names: accelerator -> acc, and a tracker", rename("accelerator", "acc", TRAIN), WANDB)
scenario("names: loss -> batch_loss, in a window", rename("loss", "batch_loss", TRAIN), WINDOW)
scenario(
    "names: log -> say, and early stopping comes",
    rename("log", "say", TRAIN, METRICS, CALLBACKS, CHECKPOINT, "config.py"),
    STOP,
)
scenario(
    "names: evaluate -> evaluate_model, where it is indented",
    both(
        rename("evaluate", "evaluate_model", TRAIN),
        in_tests("train.evaluate(", "train.evaluate_model("),
        in_tests("train.evaluate,", "train.evaluate_model,"),
    ),
    EMA,
)
EXPORTED = rename("MetricsFile", "JsonLines", TRAIN, METRICS)
scenario("names: MetricsFile -> JsonLines, and the average", EXPORTED, EMA)
scenario("names: MetricsFile -> JsonLines, which goes", EXPORTED, NO_METRICS)
scenario("names: model -> net and 88 characters", both(MODEL, formatted(88, TRAIN)), EMA)
scenario("names: model -> net and an edit", both(OWN_METRIC, MODEL), EMA)

# files

INTO_SRC = both(
    move(DATA, "src/data.py"),
    words(TRAIN, "from data import", "from src.data import"),
    in_tests("from data import", "from src.data import"),
)
scenario("files: moved to a folder", INTO_SRC, SHIFT)
PINNED = words(DATA, "        shuffle=True,\n", "        shuffle=True,\n        pin_memory=True,\n")
scenario("files: moved to a folder and edited", both(PINNED, INTO_SRC), SHIFT)
scenario(
    "files: data.py -> dataset.py",
    both(
        move(DATA, "dataset.py"),
        words(TRAIN, "from data import", "from dataset import"),
        in_tests("from data import", "from dataset import"),
    ),
    SHIFT,
)
HOOKS = both(
    move(CALLBACKS, "hooks.py"), words(TRAIN, "from callbacks import", "from hooks import")
)
scenario(
    "files: callbacks.py -> hooks.py, where the import changes",
    HOOKS,
    EMA,
    expect=both(HOOKS, in_tests("from callbacks import", "from hooks import")),
)
scenario(
    "files: model.py -> network.py, beside a changed import",
    both(
        move("model.py", "network.py"),
        words(TRAIN, "from model import", "from network import"),
        in_tests("from model import", "from network import"),
    ),
    EMA,
)


def into_package(files: Files) -> None:
    for path in [path for path in files if path.endswith(".py")]:
        files[f"src/{path}"] = files.pop(path)


scenario("files: all code into src/", into_package, {**EMA, **WINDOW})


def without_tests(files: Files) -> None:
    for path in [path for path in files if path.startswith("tests/")]:
        del files[path]


scenario("files: the proof deleted", without_tests, EMA)
scenario("files: a file of the proof deleted", remove("tests/test_features.py"), EMA)
scenario("files: README deleted", remove(README), NO_STOP, before=STOP)
RUN_SH = create(
    "run.sh",
    """
    #!/bin/sh
    accelerate launch --config_file accelerate.yaml train.py "$@"
""",
)
NOTES = create("notes/plan.md", "- compare with SGD\n")
scenario("files: own files beside the others", both(RUN_SH, NOTES), FOUR)


def schedule_in_its_own_file(files: Files) -> None:
    start, end, _ = _span(files, TRAIN, SCHEDULE, COSINE)
    lines = files[TRAIN].splitlines()
    function = "\n".join(lines[start:end])
    del lines[start : end + 2]
    text = "\n".join(lines) + "\n"
    text = re.sub(r"^from (math|torch\.optim\.lr_scheduler) import .*\n", "", text, flags=re.M)
    files[TRAIN] = text
    math = "from math import cos, pi\n\n" if "cos(" in function else ""
    files["schedule.py"] = (
        f'"""The learning rate."""\n\n{math}from torch.optim import Optimizer\n'
        "from torch.optim.lr_scheduler import LambdaLR\n\nfrom config import Config\n\n\n"
        f"{function}\n"
    )


SCHEDULE_MOVED = both(
    schedule_in_its_own_file,
    after(TRAIN, "from model import build_model", "from schedule import build_schedule"),
)
scenario("files: a function moved to a file of its own", SCHEDULE_MOVED, EMA)
scenario("files: a function moved to a file of its own, which changes", SCHEDULE_MOVED, LINEAR)
SCHEDULE_LAST = carry(TRAIN, SCHEDULE, COSINE, 'if __name__ == "__main__":')
scenario("files: a function moved down", SCHEDULE_LAST, EMA)
scenario(
    "files: a function moved down, which changes",
    SCHEDULE_LAST,
    LINEAR,
)

# TOML, YAML, Markdown, patterns

scenario(
    "text: README's first paragraph and a section more",
    both(
        words(
            README,
            "Trains an image classifier on scikit-learn's handwritten digits",
            "Our classifier",
        ),
        append(README, "\n## Results\n\n| run | accuracy |\n| --- | --- |\n| 1 | 0.98 |\n"),
    ),
    EMA,
)
scenario(
    "text: README's list, where a line is inserted",
    substitute(
        README, r"(- \*\*Early stopping\*\*.*\n)", r"\1- **Ours**: two seeds for each run.\n"
    ),
    EMA,
    also=[
        substitute(
            README, r"(- \*\*Metrics file\*\*.*\n)", r"- **Ours**: two seeds for each run.\n\1"
        )
    ],
    before=STOP,
)


def without_list(files: Files) -> None:
    files[README] = re.sub(r"^- \*\*.*\n", "", files[README], flags=re.MULTILINE)


scenario(
    "text: README's list deleted, where a line is inserted",
    without_list,
    EMA,
)
TORCHMETRICS = after(PYPROJECT, '    "tqdm>=4.66",', '    "torchmetrics>=1.4",')
scenario(
    "text: a dependency where one is inserted",
    TORCHMETRICS,
    WANDB,
    also=[after(PYPROJECT, '    "wandb>=0.18",', '    "torchmetrics>=1.4",')],
)
scenario(
    "text: a dependency that the update brings too",
    after(PYPROJECT, '    "tyro>=1.0.17",', '    "wandb>=0.18",'),
    WANDB,
    expect=nothing,
)
scenario(
    "text: a dependency that the update brings in another version",
    after(PYPROJECT, '    "tqdm>=4.66",', '    "wandb==0.17.2",'),
    WANDB,
    expect=decide(PYPROJECT),
)


def pin(files: Files) -> None:
    for name in ("accelerate", "safetensors", "scikit-learn", "torch", "tqdm"):
        files[PYPROJECT] = files[PYPROJECT].replace(f'"{name}>=', f'"{name}==')


scenario("text: all dependencies pinned, and one more between them", pin, CURVES)
scenario(
    "text: tables of one's own in pyproject.toml",
    both(
        words(PYPROJECT, "line-length = 100", "line-length = 120", times=2),
        append(PYPROJECT, "\n[tool.mypy]\nstrict = true\n"),
        words(PYPROJECT, 'version = "0.1.0"', 'version = "1.2.0"'),
    ),
    WANDB,
)
scenario(
    "text: a key at the end of a launch file, where two come",
    append(LAUNCH, "main_process_port: 29501\n"),
    FOUR,
    also=[before(LAUNCH, "rdzv_backend: 'static'", "main_process_port: 29501")],
)
scenario(
    "text: a value beside one that changes", words(LAUNCH, "debug: false", "debug: true"), FOUR
)
scenario(
    "text: comments in a launch file",
    both(
        before(LAUNCH, "machine_rank: 0", "# only one machine"),
        words(LAUNCH, "use_cpu: false", "use_cpu: false  # four of them"),
    ),
    FOUR,
)
scenario(
    "text: the value that the update changes too",
    words(LAUNCH, "num_processes: 1", "num_processes: 2"),
    FOUR,
    expect=decide(LAUNCH),
)
scenario(
    "text: comments in scaffold.toml",
    both(
        substitute(ANSWERS, "^# .*", "# What we train with. Ask Kim before you change it."),
        before(ANSWERS, "[features.clipping]", "# tried in May: no better"),
    ),
    WINDOW,
)
scenario("text: patterns in .gitignore", append(".gitignore", "wandb/\n*.ckpt\n"), WANDB)
scenario(
    "text: the command in README, which changes too",
    change(README, "python train.py", "python train.py --epochs 40"),
    FOUR,
    expect=decide(README),
)

# already there by hand

KEEP = "keep_checkpoints: ..."
CLIPPED = before(TRAIN, "optimizer.step()", f"if config.max_grad_norm:\n    {CLIPPING}")
scenario(
    "by hand: the option's own lines",
    both(
        by_hand("config.py", "max_grad_norm: ", "warmup_ratio: ..."),
        CLIPPED,
        before(
            TRAIN,
            "metrics_file.append(progress.step, values)",
            'if config.max_grad_norm:\n    values["grad_norm"] = float(grad_norm)',
        ),
    ),
    CLIP,
    before=NO_CLIP,
    expect=nothing,
)
scenario(
    "by hand: the same call with another value",
    before(TRAIN, GROUPS, "accelerator.clip_grad_norm_(model.parameters(), 0.5)"),
    CLIP,
    before=NO_CLIP,
    expect=decide(TRAIN),
)
scenario(
    "by hand: the same call at another place",
    after(
        TRAIN,
        "accelerator.backward(loss)",
        "accelerator.clip_grad_norm_(model.parameters(), 0.5)",
    ),
    CLIP,
    before=NO_CLIP,
    expect=decide(TRAIN),
)
scenario(
    "by hand: the same field with another value",
    both(after(TRAIN, KEEP, "max_grad_norm: float = 0.5"), CLIPPED),
    CLIP,
    before=NO_CLIP,
    expect=decide("config.py"),
)
scenario(
    "by hand: the same field at another place",
    both(after(TRAIN, LIMIT, "max_grad_norm: float = 0.5"), CLIPPED),
    CLIP,
    before=NO_CLIP,
    expect=decide("config.py"),
)
AVERAGED = both(
    after(
        TRAIN,
        "from torch.optim import AdamW, Optimizer",
        "from torch.optim.swa_utils import AveragedModel",
    ),
    before(
        TRAIN,
        'metrics_file = MetricsFile(config.output_dir / "metrics.jsonl")',
        "ema = AveragedModel(accelerator.unwrap_model(model))",
    ),
    after(TRAIN, ZERO_GRAD, "ema.update_parameters(model)"),
)
scenario("by hand: an average of the owner's own", AVERAGED, EMA, expect=decide(TRAIN))
scenario(
    "by hand: the value that the update sets",
    default("batch_size", "64"),
    {"training.batch_size": 64},
    expect=nothing,
)
scenario(
    "by hand: another value than the update sets",
    default("learning_rate", "0.003"),
    {"training.learning_rate": 0.01},
    expect=decide("config.py"),
)
STOPPED = both(
    delete(
        TRAIN,
        """
        if early_stopping.should_stop:
            log(f"early stop: {early_stopping.stale} epochs, no better val_accuracy")
            break
    """,
    ),
    delete(TRAIN, 'early_stopping.update(metrics["val_accuracy"])'),
    delete(TRAIN, "early_stopping = EarlyStopping(config.patience, config.min_delta)"),
    everywhere(", EarlyStopping", "", TRAIN),
    delete(TRAIN, f"patience: ...\n{MIN_DELTA}"),
    everywhere('"early_stopping": early_stopping,', "", TRAIN),
    formatted(100, TRAIN),
)
scenario(
    "by hand: a feature taken out, then turned off", STOPPED, NO_STOP, expect=nothing, before=STOP
)
scenario("by hand: a feature taken out, where lines are indented", STOPPED, EMA, before=STOP)
scenario(
    "by hand: a call taken out of a feature, then turned off",
    change(TRAIN, f'{READ}\nstop_on_nan(values["loss"], progress.step)', READ),
    NO_NAN,
    expect=nothing,
    before=NAN,
)

# a feature goes that its owner has changed or makes use of

scenario(
    "goes: a changed call",
    change(
        TRAIN,
        CLIPPING,
        """
    grad_norm = torch.nn.utils.clip_grad_value_(model.parameters(), config.max_grad_norm)
""",
    ),
    NO_CLIP,
    expect=decide(TRAIN),
)
scenario(
    "goes: a changed class",
    words(
        CALLBACKS,
        "if score > self.best + self.min_delta:",
        "if score >= self.best + self.min_delta:",
    ),
    NO_STOP,
    before=STOP,
    expect=decide(CALLBACKS),
)
scenario(
    "goes: a changed function",
    words(
        TRAIN,
        "return 0.5 * (1 + cos(pi * done))",
        "return 0.45 * (1.1 + cos(pi * done))",
    ),
    NO_SCHEDULE,
    expect=decide(TRAIN),
)
scenario(
    "goes: a function whose body both change",
    words(
        TRAIN,
        "return 0.5 * (1 + cos(pi * done))",
        "return 0.45 * (1.1 + cos(pi * done))",
    ),
    LINEAR,
    expect=decide(TRAIN),
)
scenario(
    "goes: an object that own code uses",
    after(TRAIN, LOOP_END, 'log(f"{metrics_file.size} bytes of metrics")'),
    NO_METRICS,
    expect=decide(TRAIN),
)
PRETRAINED = 'load_weights(accelerator, model, Path("pretrained.safetensors"))'
scenario(
    "goes: a function that own code calls",
    both(
        import_name(TRAIN, "weights", "load_weights"),
        after(TRAIN, "checkpoints.resume()", PRETRAINED),
    ),
    NO_BEST,
    expect=decide(TRAIN, WEIGHTS),
)
EXPORT = create(
    "export.py",
    """
    from weights import load_weights

    print(load_weights)
    """,
)
scenario(
    "goes: a function that an own file imports, so it stays",
    EXPORT,
    NO_BEST,
    expect=both(EXPORT, lambda files: files.update({WEIGHTS: render(BEST)[WEIGHTS]})),
)
scenario(
    "goes: a field that own code reads",
    after(
        TRAIN,
        "check_environment(accelerator)",
        'accelerator.print(f"patience {config.patience}")',
    ),
    NO_STOP,
    before=STOP,
    expect=decide("config.py"),
)

# several at once

COMPILED = both(
    after(TRAIN, LAST_FIELD, "compile: bool = False"),
    after(
        TRAIN,
        "model = build_model(config)",
        """
                    if config.compile:
                        model = torch.compile(model)
                """,
    ),
)
scenario("several: loss, metric, field", both(OWN_LOSS, OWN_METRIC, COMPILED), EMA)
scenario("several: loss, metric, field, in a window", both(OWN_LOSS, OWN_METRIC, COMPILED), WINDOW)
scenario(
    "several: two features at once",
    both(OWN_LOSS, OWN_METRIC, SGD, TORCHMETRICS),
    {**EMA, **BF16, **CURVES},
)
OTHERS = both(
    SGD,
    append(CALLBACKS, "\n\n" + textwrap.dedent(THROUGHPUT).strip("\n") + "\n"),
    TORCHMETRICS,
    append(README, "\n## Results\n\nSoon.\n"),
)
scenario(
    "several: optimizer, callback, dependency, README",
    both(OTHERS, OWN_CALLBACK),
    {**CURVES, **BF16},
    also=[
        both(
            OTHERS,
            OWN_CALLBACK,
            delete(TRAIN, "throughput = Throughput()"),
            before(
                TRAIN,
                "learning_curves = LearningCurves("
                'metrics_file.path, config.output_dir / "curves.png")',
                "throughput = Throughput()",
            ),
        )
    ],
    before=NAN,
)
scenario(
    "several: profiler, loss, log line, in a window",
    both(OWN_LOSS, after(TRAIN, LOG_EPOCH, 'log(f"{epoch=}")'), PROFILED),
    {**WINDOW, **EMA},
)
scenario(
    "several: names, loss, 88 characters", both(OWN_LOSS, MODEL, CONFIG, formatted(88, TRAIN)), EMA
)
scenario(
    "several: moved, Windows newlines, loss",
    both(
        INTO_SRC,
        words(
            "src/data.py",
            "        shuffle=True,\n",
            "        shuffle=True,\n        pin_memory=True,\n",
        ),
        OWN_LOSS,
        crlf(TRAIN, "src/data.py"),
    ),
    {**SHIFT, **WINDOW},
)
scenario(
    "several: edits, then three features go",
    both(OWN_LOSS, OWN_METRIC, COMPILED, WANDB_BY_HAND),
    {**NO_STOP, **NO_NAN, **NO_CLIP},
    before={**STOP, **NAN},
)
scenario(
    "several: one feature after the other",
    both(OWN_LOSS, OWN_METRIC, SGD),
    EMA,
    WINDOW,
    NO_STOP,
    before=STOP,
)
scenario(
    "several: there and back",
    both(OWN_LOSS, OWN_METRIC, SGD, COMPILED),
    {**EMA, **WINDOW},
    {**NO_EMA, **NO_WINDOW},
)
scenario(
    "several: preemption goes, checkpoints edited",
    both(
        words(
            CHECKPOINT,
            'f"checkpoint_{self.progress.step:08d}"',
            'f"checkpoint_{self.progress.step:010d}"',
        ),
        before(CHECKPOINT, "self.states = ...", "self.count = 0"),
        words(
            CHECKPOINT,
            "self.accelerator.save_state(scratch)",
            "self.accelerator.save_state(scratch)\n        self.count += 1",
        ),
    ),
    {**NO_PREEMPTION, **NO_NAN},
    before={**PREEMPTION, **NAN},
)
scenario("several: the best model goes, loss, optimizer", both(OWN_LOSS, SGD, COMPILED), NO_BEST)
scenario(
    "several: another schedule with its own answers",
    both(OWN_LOSS, OWN_METRIC, OWN_OPTIMIZER),
    ONE_CYCLE,
)
