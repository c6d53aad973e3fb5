"""`scaffold check`: each rule by its own examples, and what the command prints."""

import json
import time
from pathlib import Path

import pytest

from scaffold.check.rule import Rule, all_rules
from scaffold.check.run import check_text
from support.command_line import Cli
from support.mutations import MUTATIONS
from support.paths import REPOSITORY
from support.rendering import render_with_best as render

RULES = REPOSITORY / "scaffold" / "check" / "rules"
# the wrong edits of tests/training/test_mutations.py that are seen without running anything
SEEN = {
    "each batch of a step clipped": "TL109",
    "gather removed": "TL211",
    "gathered without cutting the padding": "TL202",
    "set_epoch dropped": "TL401",
    "evaluation mode forgotten": "TL203",
    "clipping before backward": "TL109",
    "divided twice": "TL106",
    "schedule steps once for each batch": "TL302",
    "gradients not cleared": "TL101",
    "same dropout on all processes": "TL304",
    "mean of means": "TL206",
}
FAULTY = all_rules()[0].wrong
WINDOW = """
optimizer.zero_grad()
for update in range(updates):
    for micro_step in range(accumulation_steps):
        loss = model(next_batch()).loss
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
KEPT = """
for inputs, labels in loader:
    loss = loss_function(model(inputs), labels)
    loss.backward()
    total = total + loss * len(labels)
"""
STEPS = """
for step, batch in enumerate(loader):
    loss = model(batch).loss
    (loss).backward()
    if (step + 1) % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad()
"""
ENTERED = """
@contextmanager
def evaluating(model):
    model.eval()
    with torch.inference_mode():
        yield
    model.train()

loss.backward()
with evaluating(model):
    for inputs, labels in eval_loader:
        correct += (model(inputs).argmax(-1) == labels).sum()
"""
WEIGHTED = """
for batch in eval_loader:
    loss = model(**batch).loss
    losses.append(accelerator.gather_for_metrics(loss.repeat(args.batch_size)))
"""
CHOSEN = """
def test(epoch):
    for inputs, labels in testloader:
        correct += (model(inputs).argmax(-1) == labels).sum()
    if correct > best:
        best = correct
"""
SKIPPED = """
accelerator = Accelerator()
loader = accelerator.prepare(DataLoader(data, shuffle=True))
for step, batch in enumerate(loader):
    if epoch == start_epoch and step < done:
        continue
    accelerator.backward(model(batch).loss)
"""
BOTH = """
for images in loader:
    discriminator_optimizer.zero_grad()
    discriminator_loss(images).backward()
    discriminator_optimizer.step()
    generator_optimizer.zero_grad()
    generator_loss(images).backward()
    generator_optimizer.step()
"""
MODES = """
def train(model, loader):
    for inputs, labels in loader:
        loss_function(model(inputs), labels).backward()
        optimizer.step()
        optimizer.zero_grad()

def validate(model):
    model.eval()
    with torch.no_grad():
        return model(example)

for epoch in range(3):
    model.train()
    train(model, loader)
    validate(model)
"""
WITHIN = MODES.replace("    validate(model)\n", "").replace(
    "        optimizer.zero_grad()\n",
    "        optimizer.zero_grad()\n        if step % 100 == 0:\n            validate(model)\n",
)
COSINE = """
from torch.optim.lr_scheduler import CosineAnnealingLR
scheduler = CosineAnnealingLR(optimizer, T_max=args.epochs)
for epoch in range(args.epochs):
    for inputs, labels in loader:
        loss_function(model(inputs), labels).backward()
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
"""
PARAMETERS = """
def update(loss, optimizer):
    loss.backward()
    optimizer.step()
"""
DIVIDED = """
def update(step, loss):
    loss.backward()
    if step % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad()
"""
METERS = """
from meters import Meters
meters = Meters(accelerator)
loader, eval_loader, model = accelerator.prepare(loader, eval_loader, model)
for inputs, labels in loader:
    accelerator.backward(loss_function(model(inputs), labels))
for inputs, labels in eval_loader:
    meters.log("accuracy", (model(inputs).argmax(-1) == labels).float().mean())
"""
EACH_EPOCH = COSINE.replace("        scheduler", "    scheduler")
BATCHES = """
for step, (inputs, labels) in enumerate(eval_loader):
    correct = (model(inputs).argmax(-1) == labels).float()
    accuracies.append(correct.mean().item())
    total += accuracies[-1] * len(labels)
    seen += len(labels)
"""
MEANS = BATCHES.replace("accuracies[-1] * len(labels)", "correct.mean()")
COUNTED = MEANS.replace("seen += len(labels)", "seen += 1") + "accuracy = float(total) / seen\n"
LISTED = BATCHES + "accuracy = torch.stack(accuracies).mean()\n"
METRICS = """
metrics = {"train_loss": train_loss}
metrics |= evaluate(model, val_loader)
metrics |= evaluate(model, test_loader)
accuracy = metrics["val_accuracy"]
if accuracy > best:
    best = accuracy
"""
PLATEAU = """
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
for inputs, labels in test_loader:
    total += loss_function(model(inputs), labels) * len(labels)
scheduler.step(total / len(test_loader.dataset))
"""
DROPOUT = """
accelerator = Accelerator()
set_seed(config.seed)
model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.1))
model = accelerator.prepare(model)
for inputs, labels in loader:
    accelerator.backward(loss_function(model(inputs), labels))
"""
SUBSETS = """
def build_datasets(data):
    order = torch.randperm(len(data)).tolist()
    val_part, train_part = order[:100], order[100:]
    return Subset(data, train_part), Subset(data, val_part)

def main():
    accelerator = Accelerator()
    train_set, val_set = build_datasets(load())
"""
BUILT = """
def build_schedule(optimizer, total_steps):
    return CosineAnnealingLR(optimizer, total_steps)

scheduler = build_schedule(optimizer, total_steps)
for epoch in range(args.epochs):
    for inputs, labels in loader:
        loss_function(model(inputs), labels).backward()
        optimizer.step()
        optimizer.zero_grad()
    scheduler.step()
"""
FORMS = {  # further forms of a fault: the code, a wrong script, and what mends it
    "cleared in no window": ("TL101", WINDOW.replace("optimizer.zero_grad()\n", "pass\n"), WINDOW),
    "one of two": ("TL101", BOTH.replace("    generator_optimizer.zero_grad()\n", ""), BOTH),
    "window not divided": ("TL107", WINDOW, WINDOW.replace("loss.b", "(loss / 4).b")),
    "divided in the call": ("TL107", STEPS, STEPS.replace("(loss)", "(loss / accumulation_steps)")),
    "assigned sum": ("TL104", KEPT, KEPT.replace("loss *", "loss.detach() *")),
    "mode in a helper": ("TL203", ENTERED.replace("    model.eval()\n", ""), ENTERED),
    "gradients in a helper": ("TL204", ENTERED.replace("inference_mode", "autocast"), ENTERED),
    "repeated": ("TL206", WEIGHTED, WEIGHTED.replace("args.batch_size", "len(batch['labels'])")),
    "chosen where it is tested": ("TL207", CHOSEN, CHOSEN.replace("testloader", "val_loader")),
    "in an object of one process": ("TL211", METERS.replace("(accelerator)", "()"), METERS),
    "in an object of this file": (
        "TL211",
        METERS.replace("from meters import Meters", "class Meters(dict):\n    pass\n"),
        METERS,
    ),
    "mode of a function": ("TL208", MODES.replace("    model.train()\n", ""), MODES),
    "mode within an epoch": (
        "TL208",
        WITHIN,
        WITHIN.replace("return model(example)", "model(example)\n    model.train()"),
    ),
    "accuracies of batches": (
        "TL206",
        LISTED,
        LISTED.replace("correct.mean().item()", "correct").replace("stack", "cat"),
    ),
    "batches counted": ("TL206", COUNTED, COUNTED.replace("mean()", "sum()")),
    "batches of one sample": (
        "TL206",
        "eval_loader = DataLoader(data, batch_size=64)" + COUNTED,
        "eval_loader = DataLoader(data, batch_size=1)" + COUNTED,
    ),
    "batches enumerated": (
        "TL206",
        MEANS + "accuracy = total / (step + 1)\n",
        MEANS + "    print(total / (step + 1))\n",
    ),
    "chosen by one of several metrics": (
        "TL207",
        METRICS.replace("metrics |= evaluate(model, val_loader)\n", ""),
        METRICS,
    ),
    "learning rate chosen": ("TL207", PLATEAU, PLATEAU.replace("test_", "val_")),
    "steps counted in epochs": ("TL301", COSINE, EACH_EPOCH),
    "as many steps as epochs": (
        "TL301",
        COSINE.replace("args.epochs", "30"),
        COSINE.replace("args.epochs)\n", "3000)\n", 1).replace("args.epochs", "30"),
    ),
    "steps of one epoch": (
        "TL301",
        COSINE.replace("args.epochs", "len(loader)", 1),
        COSINE.replace("args.epochs", "len(loader) * args.epochs", 1),
    ),
    "updates counted, epochs stepped": (
        "TL301",
        EACH_EPOCH.replace("args.epochs", "len(loader) * args.epochs", 1),
        EACH_EPOCH,
    ),
    "updates counted for a function": (
        "TL301",
        BUILT,
        BUILT.replace("CosineAnnealingLR(optimizer, total_steps)", "StepLR(optimizer, 30)"),
    ),
    "same dropout": (
        "TL304",
        DROPOUT,
        DROPOUT.replace("config.seed", "config.seed + accelerator.process_index"),
    ),
    "parts of an order": (
        "TL305",
        SUBSETS,
        SUBSETS.replace("    train_set", "    set_seed(0)\n    train_set"),
    ),
    "cleared by whoever calls": (
        "TL101",
        PARAMETERS + "update(model(batch).loss, optimizer)\n",
        PARAMETERS,
    ),
    "divided by whoever calls": ("TL107", DIVIDED + "update(step, model(batch).loss)\n", DIVIDED),
    "skipped from the start": ("TL401", SKIPPED, SKIPPED.replace("shuffle=True", "shuffle=False")),
}


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_a_rule_finds_its_wrong_example_alone(rule: Rule) -> None:
    assert check_text("wrong.py", rule.wrong, [rule]) != []
    assert check_text("right.py", rule.right, [rule]) == []
    assert rule.reason[0].isupper() or rule.reason[0] == "`"
    assert rule.mend.endswith((".", ")")) and rule.code in rule.page


@pytest.mark.parametrize("form", FORMS)
def test_a_rule_knows_other_forms_of_its_fault(form: str) -> None:
    code, wrong, right = FORMS[form]
    rules = [rule for rule in all_rules() if rule.code == code]
    assert [found.code for found in check_text("wrong.py", wrong, rules)] == [code]
    assert check_text("right.py", right, rules) == []


def test_rules_are_short_and_have_codes_of_their_own() -> None:
    files = sorted(RULES.glob("tl*.py"))
    assert len(files) == len(all_rules()) == len({rule.code for rule in all_rules()}) >= 25
    assert all(len(path.read_text().splitlines()) <= 60 for path in files)
    lines = [len(path.read_text().splitlines()) for path in RULES.parent.rglob("*.py")]
    assert 1000 <= sum(lines) <= 1650


def test_generated_examples_have_no_faults() -> None:
    """Each text once: many stand in several examples under the same name."""
    files = sorted((REPOSITORY / "generated_examples").rglob("*.py"))
    assert len(files) >= 400
    texts = {(path.name, path.read_text()): str(path) for path in files}
    assert len(texts) >= 200
    start = time.process_time()
    found = [f for (_, text), path in texts.items() for f in check_text(path, text, all_rules())]
    assert found == []
    assert (time.process_time() - start) / len(texts) < 0.1


def test_wrong_edits_are_seen_without_running() -> None:
    seen = {}
    for mutation in MUTATIONS:
        text = render(mutation.given)[mutation.file].replace(mutation.old, mutation.new)
        if found := check_text(mutation.file, text, all_rules()):
            seen[mutation.name] = found[0].code
    assert seen == SEEN


@pytest.fixture
def check(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """The command, in a folder with one faulty script."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(FAULTY)
    return lambda *arguments: cli("check", *arguments)


def test_findings_have_a_line_a_reason_and_a_mend(check: Cli) -> None:
    result = check("train.py")
    assert result.code == 1
    assert result.out.startswith("train.py:5:5: TL101 Gradients are never cleared")
    assert "Call optimizer.zero_grad()" in result.out
    assert check("train.py", "--ignore", "TL1").code == 0
    assert check("train.py", "--select", "TL2,TL3").code == 0
    assert check("train.py", "--select", "TL101").code == 1


@pytest.mark.parametrize(
    ("comment", "code"), [("# noqa", 0), ("# noqa: F401, TL101", 0), ("# noqa: TL102", 1)]
)
def test_noqa(comment: str, code: int, check: Cli, tmp_path: Path) -> None:
    text = FAULTY.replace("optimizer.step()", f"optimizer.step()  {comment}")
    (tmp_path / "train.py").write_text(text)
    assert check("train.py").code == code


def test_formats(check: Cli) -> None:
    found = json.loads(check("train.py", "--format", "json").out)["findings"]
    assert [(row["path"], row["line"], row["code"]) for row in found] == [("train.py", 5, "TL101")]
    sarif = json.loads(check("train.py", "--format", "sarif").out)
    result = sarif["runs"][0]["results"][0]
    assert sarif["version"] == "2.1.0" and result["ruleId"] == "TL101"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 5
    github = check("train.py", "--format", "github").out
    assert github.startswith("::error file=train.py,line=5,col=5,title=TL101::Gradients")
    none = check("train.py", "--format", "json", "--select", "TL5").out
    assert json.loads(none) == {"findings": []}


def test_notebooks_are_read_cell_by_cell(check: Cli, tmp_path: Path) -> None:
    cells = ["%%bash\nls -l", "!pip install \\\n    torch\n%matplotlib inline", FAULTY]
    book = {"cells": [{"cell_type": "code", "source": cell.splitlines(True)} for cell in cells]}
    (tmp_path / "train.ipynb").write_text(json.dumps(book))
    result = check("train.ipynb")
    assert result.code == 1 and result.out.startswith("train.ipynb:cell 3:5:5: TL101")


def test_what_can_not_be_checked_is_said(check: Cli, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def :")
    result = check("broken.py", "train.py")
    assert result.code == 2 and "broken.py:1: not valid Python" in result.err
    assert "TL101" in result.out, "the other files are still checked"
    for arguments in ("gone.py", "train.py --select XY1", "train.py --format xml", ""):
        result = check(*arguments.split())
        assert result.code == 2 and "Traceback" not in result.err


def test_rules_are_listed_and_explained(check: Cli) -> None:
    listed = check("--rules").out.splitlines()
    assert len(listed) == len(all_rules())
    page = check("--explain", "tl202").out
    assert "gather_for_metrics" in page and "Wrong:" in page and "Right:" in page
    assert check("--explain", "TL999").code == 2


def test_the_hook_of_pre_commit_runs_the_command() -> None:
    import yaml

    hook = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text())[0]
    assert hook["entry"] == "scaffold check" and set(hook["types_or"]) == {"python", "jupyter"}
