"""Projects that earlier versions wrote and their owners edited are carried to today's templates."""

import json
import re
import shutil
from pathlib import Path

import pytest

from support.combinations import in_turns
from support.command_line import Cli
from support.files import read_files
from support.training import start, succeed

DATA = Path(__file__).parent / "data"
OLD = DATA / "pristine-0.1.0.json"
FIRST = DATA / "pristine-0.1.0-first.json"  # two days of work before
NEXT = DATA / "pristine-0.2.0.json"
Files = dict[str, str]


def old_project(folder: Path, old: Path = OLD) -> Files:
    """Write the project as an earlier version did. Returns its files."""
    files: Files = json.loads(old.read_text())["files"]
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / ".scaffold").mkdir()
    shutil.copy(old, folder / ".scaffold" / "pristine.json")
    return files


Edit = tuple[str, str, str]  # a file, a text in it, and another; without the first one, it is added


def read_edits(text: str) -> dict[str, tuple[list[Edit], list[str]]]:
    """By name: what an owner edits, as patches, and after `=` what stands in the files at the end.

    They are of train.py if no other file is named.
    """
    found = {}
    for name, rest in re.findall(r"^(\w.*)\n((?:[-+@=|].*\n)+)", text, re.MULTILINE):
        edits = [
            (file or TRAIN, *("\n".join(re.findall(f"(?m)^[{sign}](.*)", hunk)) for sign in "-+"))
            for file, hunk in re.findall(r"(?:^@ (.*)\n)?((?:^-.*\n)*(?:^\+.*\n)+)", rest, re.M)
        ]
        kept = re.findall(r"^=(.*\n(?:\|.*\n)*)", rest, re.MULTILINE)
        found[name] = (edits, [text.rstrip("\n").replace("\n|", "\n") for text in kept])
    return found


TRAIN = "train.py"
BOTH = """
another optimizer
-return AdamW(parameters, config.
+return RMSprop(parameters, config.
-import AdamW, Optimizer
+import Optimizer, RMSprop
=return RMSprop(parameters, config.learning_rate, weight_decay=config.weight_decay)
another model
@ model.py
-dropout: float = 0.3
+dropout: float = 0.1
=dropout: float = 0.1
"""
EDITS = read_edits(BOTH + """
other defaults
-epochs: int = 20
+epochs: int = 50
-clipping_max_norm: float = 1.0
+clipping_max_norm: float = 0.5
=epochs: int = 50
=max_grad_norm: float = 0.5
own field, used in the loop
-    limit_batches: int = 0  # per epoch and evaluation, 0: all
+    limit_batches: int = 0  # per epoch and evaluation, 0: all
+    noise: float = 0.1  # of my images
-            images, labels = batch
+            images, labels = batch
+            images = images + config.noise * torch.randn_like(images)
=    noise: float = 0.1  # of my images
=            images = images + config.noise * torch.randn_like(images)
own line with old names
-            progress.update += 1
+            progress.update += 1
+            print("mine", progress.update, "of", total_updates)
=            progress.step += 1
|            print("mine", progress.step, "of", total_steps)
own metric
-        seen += len(labels)
+        seen += len(labels)
+        large = (predictions >= 5).sum()
-        f"{name}_accuracy": float(correct) / seen,
+        f"{name}_accuracy": float(correct) / seen,
+        f"{name}_large": float(large),
=        f"{name}_large": float(large),
=large = (predictions >= 5).sum()
own callback
@ callbacks.py
+
+
+class Mine:
+    def seen(self, metrics):
+        print("seen")
-MetricsFile, stop_on_nan
+MetricsFile, Mine, stop_on_nan
-        early_stopping.step(metrics["val_accuracy"])
+        early_stopping.step(metrics["val_accuracy"])
+        Mine().seen(metrics)
=        early_stopping.update(metrics["val_accuracy"])
|        Mine().seen(metrics)
=class Mine:
own schedule, which returns a factor of the rate now
-config.learning_rate * 0.5 * (1 + math.cos(math.pi * done))
+config.learning_rate * (1 - done) ** 2
own state of the checkpoints
-    checkpoints.resume()
+    checkpoints.states["mine"] = Progress()
+    checkpoints.resume()
=    checkpoints.states["mine"] = Progress()
|    checkpoints.resume()
own file and script
@ mine.py
+from checkpoint import Progress, find_checkpoints
+
+
+def show(config, progress: Progress):
+    print(progress.update, config.clipping_max_norm, find_checkpoints)
-from model import build_model
+from mine import show
+from model import build_model
-    checkpoints.resume()
+    checkpoints.resume()
+    show(config, progress)
=from config import find_checkpoints
=    print(progress.step, config.max_grad_norm, find_checkpoints)
settings in scaffold.toml
@ scaffold.toml
-patience = 5
+patience = 9
@ scaffold.toml
-checkpoint_unit = "epochs"
+checkpoint_unit = "updates"
=patience: int = 9
="epochs", "steps"] = "steps"
""")
# the same for 0.2.0
NEXT_EDITS = read_edits(BOTH + """
own field, used in the loop
-    limit_batches: int = 0  # batches per epoch and evaluation; 0: all
+    limit_batches: int = 0  # batches per epoch and evaluation; 0: all
+    noise: float = 0.1  # of my images
-            loss = compute_loss(
+            images = images + config.noise * torch.randn_like(images)
+            loss = compute_loss(
=    noise: float = 0.1  # of my images
=            images = images + config.noise * torch.randn_like(images)
own line that prints what has another name now
-                bar.set_postfix(loss=mean_loss)
+                bar.set_postfix(loss=mean_loss)
+                print(mean_loss, values)
own file and script
@ mine.py
+from checkpoint import find_checkpoints
+
+
+def show(config):
+    print(config.max_grad_norm, find_checkpoints)
-from model import build_model
+from mine import show
+from model import build_model
-    checkpoints.resume()
+    checkpoints.resume()
+    show(config)
=    checkpoints.resume()
|    show(config)
=print(config.max_grad_norm, find_
""")
# in that version, the lines of the loop at this place were others
CONFLICTS = {(FIRST, "own field, used in the loop")}


def edited_project(folder: Path, names: list[str], old: Path = OLD) -> list[str]:
    """Write an old project with these edits. Returns what must stand in its files at the end."""
    files = old_project(folder, old)
    edits = NEXT_EDITS if old == NEXT else EDITS
    for file, before, after in [edit for name in names for edit in edits[name][0]]:
        if before:
            assert before in files[file], before
            files[file] = files[file].replace(before, after)
        else:
            files[file] = f"{files.get(file, '')}{after}\n"
    for name, text in files.items():
        (folder / name).write_text(text)
    return [text for name in names for text in edits[name][1]]


def all_code(folder: Path) -> str:
    return "\n".join(path.read_text() for path in sorted(folder.glob("*.py")))


CASES = [(old, name) for old in (OLD, FIRST) for name in EDITS]
CASES += [(NEXT, name) for name in NEXT_EDITS]


@pytest.mark.parametrize("case", in_turns(CASES, 2), ids=lambda case: f"{case[0].stem}: {case[1]}")
def test_an_edit_is_carried_over(cli: Cli, tmp_path: Path, case: tuple[Path, str]) -> None:
    old, name = case
    kept = edited_project(tmp_path / "p", [name], old)
    result = cli("update", tmp_path / "p")
    code = all_code(tmp_path / "p")
    if (old, name) in CONFLICTS or not kept:
        assert result.code == 1, result.out
        assert not re.search(r" = .* = .* = ", result.out), "too many causes of a conflict"
        return
    assert result.code == 0, result.out + result.err
    for text in kept:
        assert text in code, f"{text!r} is not in the updated project"
    leftover = r"progress\.update|total_updates|clipping_max_norm|early_stopping_patience"
    assert not re.search(leftover, code), "an old name is left"


@pytest.mark.parametrize("old", [OLD, FIRST, NEXT], ids=lambda path: path.stem)
def test_an_unedited_project_is_as_one_that_is_new(cli: Cli, tmp_path: Path, old: Path) -> None:
    old_project(tmp_path / "old", old)
    result = cli("update", tmp_path / "old")
    assert result.code == 0
    answers = json.loads(old.read_text())["answers"]
    # what was on by default in earlier versions
    settings = ["best_model", "early_stopping", "preemption", "stop_on_nan"]
    settings = [name for name in settings if answers[f"features.{name}.enabled"]]
    given = [part for name in settings for part in ("--set", f"features.{name}=true")]
    name = answers["project.name"]
    cli("new", tmp_path / "new", "--yes", "--name", name, *given)
    updated, written = (read_files(tmp_path / folder) for folder in ("old", "new"))
    for name in (".scaffold/undo.json", ".scaffold/.gitignore"):
        del updated[name]
    assert updated == written and len(written) > 15


def test_renamed_settings_are_named(cli: Cli, tmp_path: Path) -> None:
    edited_project(tmp_path / "p", ["settings in scaffold.toml"])
    told = cli("update", tmp_path / "p").out
    assert "config.clipping_max_norm -> config.max_grad_norm" in told
    assert "config.early_stopping_patience -> config.patience" in told


def test_a_conflict_where_both_changed_the_line(cli: Cli, tmp_path: Path) -> None:
    """The old loss has another argument of its owner's; the new loss is another call."""
    files = old_project(tmp_path / "p")
    call = "F.cross_entropy(model(images), labels)"
    text = files[TRAIN].replace(call, f"{call[:-1]}, label_smoothing=0.1)")
    (tmp_path / "p" / TRAIN).write_text(text)
    result = cli("update", tmp_path / "p")
    assert result.code == 1
    assert "label_smoothing=0.1" in (tmp_path / "p" / TRAIN).read_text()
    assert cli("undo", tmp_path / "p").code == 0
    assert (tmp_path / "p" / TRAIN).read_text() == text


@pytest.mark.train
def test_all_edits_together_still_train(cli: Cli, tmp_path: Path) -> None:
    kept = edited_project(tmp_path / "p", [name for name, edit in EDITS.items() if edit[1]])
    result = cli("update", tmp_path / "p")
    assert result.code == 0, result.out + result.err
    code = all_code(tmp_path / "p")
    assert [text for text in kept if text not in code] == []
    done = succeed(
        start(tmp_path / "p", ["train.py", "--max-steps", "8", "--limit-batches", "4"], 1)
    )
    assert done.stdout.count("mine") == 8
    assert "step" in (tmp_path / "p" / "runs" / "latest" / "metrics.jsonl").read_text()
