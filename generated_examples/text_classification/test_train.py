"""The proof that the loop is right. Run `pytest` after an edit: it says what no longer holds.

Everything here trains on the CPU, where two runs can be compared bit for bit.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from multiprocessing import active_children
from pathlib import Path
from unittest import mock

import pytest
import torch
from accelerate import Accelerator, DataLoaderConfiguration
from accelerate.utils import set_seed
from matplotlib.figure import Figure
from safetensors.torch import load_file
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import checkpoint
import train
from callbacks import LearningCurves
from checkpoint import Progress, find_checkpoints, remaining_batches
from data import build_datasets, build_loaders, build_tokenizer, collate
from metrics import classification_scores, confusion_matrix
from model import build_model

os.environ["ACCELERATE_USE_CPU"] = "true"

# short runs: 2 epochs of 6 updates
SETTINGS = {
    "epochs": 2,
    "limit_batches": 6,
    "batch_size": 16,
    "max_steps": 0,
    "log_every": 1,
    "keep_checkpoints": 99,
    "clipping_max_norm": 1e9,  # so that it does not hide a gradient of another size
    "early_stopping_patience": 99,
}


def run(folder: Path, **changes) -> Path:
    """Train in this process. Returns the last checkpoint."""
    train.main(train.Config(output_dir=folder, **{**SETTINGS, **changes}))
    return find_checkpoints(folder)[-1]


def assert_same_files(one: Path, other: Path, names: list[str]) -> None:
    for name in names:
        same = (one / name).read_bytes() == (other / name).read_bytes()
        assert same, f"{name} differs: a resumed run must end exactly as one that never stopped"


def test_loss_falls(tmp_path, capsys):
    run(tmp_path, epochs=3, limit_batches=60)  # at first all classes look alike
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("epoch")]
    losses = [float(line.split("train_loss ")[1].split()[0]) for line in lines]
    assert losses[-1] < losses[0], f"training does not lower the loss: {losses}"


@pytest.mark.parametrize("every", [4, 6, 8], ids=["first epoch", "its end", "second epoch"])
def test_resume_is_exact(tmp_path, monkeypatch, capsys, every):
    """A run that is stopped and resumed ends with the same bits as one that never stopped."""
    cadence = {"checkpoint_unit": "updates", "checkpoint_every": every}
    whole = run(tmp_path / "whole", **cadence)
    whole_log = capsys.readouterr().out.splitlines()

    after_update = train.Checkpoints.after_update

    def stop(checkpoints) -> None:
        after_update(checkpoints)
        if checkpoints.progress.update == every + 1:
            raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr(train.Checkpoints, "after_update", stop)
        with pytest.raises(InterruptedError):
            run(tmp_path / "resumed", **cadence)
    capsys.readouterr()
    resumed = run(tmp_path / "resumed", resume="newest", **cadence)
    log = capsys.readouterr().out.splitlines()

    assert_same_files(whole, resumed, sorted(path.name for path in whole.iterdir()))
    assert_same_files(whole.parent, resumed.parent, ["model.safetensors"])
    assert_same_files(whole.parent, resumed.parent, ["metrics.jsonl"])
    start = next(number for number, line in enumerate(log) if line.startswith("resumed"))
    tail = log[start + 1 :]
    assert tail == whole_log[-len(tail) :], "the log of the resumed run differs"
    assert column("\n".join(tail), "update")[0] == f"{every + 1}/12"


def test_counts_updates_and_clears_gradients(tmp_path, monkeypatch, capsys):
    def look(checkpoints) -> None:
        models = nn.ModuleList(checkpoints.accelerator._models)
        cleared = [weight.grad is None or not weight.grad.any() for weight in models.parameters()]
        assert all(cleared), "an update leaves its gradients to the next: parameter.grad = None"

    monkeypatch.setattr(train.Checkpoints, "after_update", look)
    last = run(tmp_path, max_steps=7)
    assert len(column(capsys.readouterr().out, "loss")) == 7, "max_steps counts updates"
    assert last.name == "checkpoint_00000007"


def test_each_epoch_has_an_order_of_its_own(tmp_path):
    accelerator = Accelerator(
        dataloader_config=DataLoaderConfiguration(use_seedable_sampler=True, data_seed=0)
    )
    loader = accelerator.prepare(build_loaders(train.Config(batch_size=16))[0])
    length = len(loader)
    orders = [
        [first(batch) for batch in remaining_batches(accelerator, loader, progress, length)]
        for progress in (Progress(epoch=0), Progress(epoch=1), Progress(epoch=1, batch=2))
    ]
    assert not all(map(torch.equal, orders[0], orders[1])), "two epochs have the same order"
    assert all(map(torch.equal, orders[1][2:], orders[2])), "a resumed epoch has another order"
    assert len(orders[2]) == len(orders[1]) - 2


def first(batch) -> torch.Tensor:
    return next(iter(batch.values() if isinstance(batch, Mapping) else batch))


def test_evaluation_changes_nothing():
    accelerator = Accelerator()
    model = accelerator.prepare(build_model(train.Config(**SETTINGS)))
    loader = accelerator.prepare(build_loaders(train.Config(batch_size=16))[1])
    first = train.evaluate(model, loader, accelerator, "val", 0)
    assert model.training, "after an evaluation, dropout must work again: model.train()"
    again = train.evaluate(model, loader, accelerator, "val", 0)
    assert again == first, "two evaluations differ: model.eval() turns dropout off"


def test_refuses_to_start_over(tmp_path):
    run(tmp_path, epochs=1)
    with pytest.raises(SystemExit, match="holds a run"):
        run(tmp_path)


def test_kill_loses_nothing(tmp_path):
    """Killed in the middle of saving, a run goes on from the newest whole checkpoint."""
    cadence = {"checkpoint_unit": "updates", "checkpoint_every": 1}
    whole = run(tmp_path / "whole", **cadence)
    folder = tmp_path / "killed"
    flags = {**SETTINGS, **cadence, "output_dir": folder}
    command = [sys.executable, "train.py"]
    for name, value in flags.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    process = subprocess.Popen(command, cwd=Path(__file__).parent, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        saving = (folder / "checkpoint.partial").exists()
        if saving and len(find_checkpoints(folder)) >= 3:
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.001)
    message = "no checkpoint was seen being written aside: it must be renamed once it is whole"
    assert process.wait() == -signal.SIGKILL, message
    resumed = run(folder, resume="newest", **cadence)
    assert_same_files(whole, resumed, sorted(path.name for path in whole.iterdir()))


def test_two_processes_are_one_with_twice_the_batch(tmp_path, capsys):
    """The same weights, learning rates and evaluation on 1 and 2 processes."""
    exact_run(tmp_path / "1", batch_size=32)
    one_log, two_log = capsys.readouterr().out, launch(exact_run, tmp_path / "2").stdout
    one, two = (json.loads((tmp_path / name / "facts.json").read_text()) for name in "12")
    assert (one["processes"], two["processes"]) == (1, 2)

    for size, expected in one["whole"].items():
        for name, value in expected.items():
            message = f"{name} of {size} samples depends on their batches: average over samples"
            assert one["batched"][size][name] == pytest.approx(value, rel=1e-5, abs=1e-5), message
            message = f"{name} of {size} samples is another on 2 processes: gather, cut the padding"
            assert two["batched"][size][name] == pytest.approx(value, rel=1e-5, abs=1e-5), message
    seeds = {(tmp_path / "2" / name).read_text() for name in ("seed0", "seed1")}
    assert len(seeds) == 2, "all processes draw the same dropout: make the seed device_specific"
    assert column(one_log, "lr") == column(two_log, "lr"), "the schedule depends on the processes"
    for name, weights in load_file(tmp_path / "1" / "model.safetensors").items():
        others = load_file(tmp_path / "2" / "model.safetensors")[name]
        message = f"{name}: 2 processes must make the update of one with twice the batch"
        torch.testing.assert_close(others, weights, rtol=0, atol=1e-5, msg=message)


def exact_run(folder: Path, batch_size: int = 16) -> None:
    """Evaluate sets of several sizes, in batches of 4 and as a whole; train without chance."""
    accelerator = Accelerator()
    facts = {"processes": accelerator.num_processes, **evaluate_sizes(accelerator, (1, 7, 33))}
    accelerator.free_memory()
    if accelerator.is_main_process:
        folder.mkdir()
        (folder / "facts.json").write_text(json.dumps(facts))
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        run(folder, epochs=1, batch_size=batch_size, learning_rate=0.03)
    (folder / f"seed{accelerator.process_index}").write_text(str(torch.initial_seed()))


def evaluate_sizes(accelerator: Accelerator, sizes: tuple[int, ...]) -> dict[str, dict]:
    set_seed(1)
    model = accelerator.prepare(build_model(train.Config(**SETTINGS)))
    loader = build_loaders(train.Config(batch_size=16))[1]

    def evaluate(size: int, batch_size: int) -> dict[str, float]:
        samples = take(loader, size)
        batches = accelerator.prepare(DataLoader(samples, batch_size, collate_fn=loader.collate_fn))
        return train.evaluate(model, batches, accelerator, "val", 0)

    return {
        "batched": {size: evaluate(size, 4) for size in sizes},
        "whole": {size: evaluate(size, size) for size in sizes},
    }


def take(loader, size: int) -> Dataset:
    """The first samples of a loader's data."""
    return Subset(loader.dataset, range(size))


def build_exact_model(config) -> nn.Module:
    """The model without dropout, which draws other numbers for other batches."""
    model = build_model(config)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    return model


def build_sgd(model, config) -> torch.optim.Optimizer:
    """Plain steps: an adaptive optimizer can blow rounding up to a whole step."""
    return torch.optim.SGD(model.parameters(), config.learning_rate)


def column(log: str, name: str) -> list[str]:
    """The values behind a name in the log lines of updates."""
    lines = [line for line in log.splitlines() if line.startswith("update")]
    return [line.split(f"{name} ")[1].split()[0] for line in lines]


def launch(function, folder: Path) -> subprocess.CompletedProcess:
    """Call a function of this file on 2 processes."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command += [__file__, function.__name__, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, err = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.terminate()  # the launcher ends what it started
        process.communicate()
        pytest.fail("the processes wait for each other: some went on, or ended, without the rest")
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def test_scores_are_those_of_the_whole_set():
    """Counts of 2 batches are added up, and give the scores that are worked out by hand."""
    labels, predictions = torch.tensor([0, 0, 0, 1, 1, 2]), torch.tensor([0, 0, 1, 1, 1, 0])
    confusion = sum(
        confusion_matrix(predictions[part], labels[part], classes=4)
        for part in (slice(0, 4), slice(4, 6))
    )
    scores = classification_scores(confusion)
    assert scores["accuracy"] == pytest.approx(4 / 6)
    # of class 0: precision 2/3, recall 2/3; of 1: 2/3 and 1; of 2: 0; of 3 there is none
    assert scores["f1"] == pytest.approx((2 / 3 + 4 / 5 + 0) / 3)
    true, predicted = (3, 2, 1), (3, 3, 0)
    covariance = 6 * 4 - (9 + 6 + 0)
    spread = ((36 - sum(n**2 for n in true)) * (36 - sum(n**2 for n in predicted))) ** 0.5
    assert scores["matthews"] == pytest.approx(covariance / spread)
    assert classification_scores(torch.tensor([[3, 0], [0, 0]]))["matthews"] == 0.0


def test_texts_are_padded():
    """Padding is masked: a text gives the same logits alone and beside a longer one."""
    config = train.Config(**SETTINGS)
    tokenizer, model = build_tokenizer(config), build_model(config).eval()
    rows = sorted(build_datasets(config)[0][:8], key=lambda row: sum(map(len, row[0])))
    small, large = (collate(part, tokenizer, config.max_length) for part in (rows[:1], rows))
    assert small["attention_mask"].all(), "a batch is longer than its longest text"
    assert not large["attention_mask"].all(), "texts of different lengths need padding"
    with torch.no_grad():
        alone, beside = model(**small).logits, model(**large).logits[:1]
    torch.testing.assert_close(alone, beside, rtol=0, atol=1e-5)


def test_from_pretrained_loads_the_folder_of_a_run(tmp_path):
    run(tmp_path, epochs=1)
    text = "a text of a few words"
    tokens = AutoTokenizer.from_pretrained(tmp_path)(text)
    assert dict(tokens) == dict(build_tokenizer(train.Config(**SETTINGS))(text))
    state = AutoModelForSequenceClassification.from_pretrained(tmp_path).state_dict()
    for name, weights in load_file(tmp_path / "model.safetensors").items():
        assert torch.equal(state[name], weights), f"{name} is another after from_pretrained"


def test_best_model_is_the_final_one(tmp_path, monkeypatch, capsys):
    """Each evaluation is said to be worse than the last: the first weights are tested and kept."""
    evaluate, improved = train.evaluate, train.BestModel.improved
    evaluated, looked_at, scores = [], [], []

    def evaluate_and_note(model, loader, accelerator, *rest):
        weights = accelerator.unwrap_model(model).state_dict()
        evaluated.append({key: value.clone() for key, value in weights.items()})
        return evaluate(model, loader, accelerator, *rest)

    def get_worse(best_model, score):
        looked_at.append(evaluated[-1])
        scores.append(score)
        return improved(best_model, -len(scores))

    monkeypatch.setattr(train, "evaluate", evaluate_and_note)
    monkeypatch.setattr(train.BestModel, "improved", get_worse)
    run(tmp_path)
    final = load_file(tmp_path / "model.safetensors")
    for tested in (evaluated[-1], final):
        best = [torch.equal(tested[name], looked_at[0][name]) for name in final]
        assert all(best), "the weights that are tested and kept are not those of the best epoch"
    last = [torch.equal(looked_at[-1][name], looked_at[0][name]) for name in final]
    assert not all(last), "no weights were trained between two evaluations"

    name, values = "val_accuracy", []
    for line in capsys.readouterr().out.splitlines():
        if line.startswith(("epoch", "evaluated")) and f" {name} " in line:
            values.append(float(line.split(f" {name} ")[1].split()[0]))
    assert scores == pytest.approx(values, abs=1e-3), "more is better, and it is what is logged"


def test_without_a_best_model_the_last_weights_stay(tmp_path, monkeypatch):
    """As in a run that stops before its first evaluation, or sees only NaN."""
    monkeypatch.setattr(train.BestModel, "improved", lambda *_: False)
    run(tmp_path)
    assert (tmp_path / "model.safetensors").exists(), "the weights were not saved"


def test_a_run_that_goes_on_elsewhere_has_a_best_of_its_own(tmp_path, monkeypatch):
    first, improved = run(tmp_path / "one", epochs=1), train.BestModel.improved
    monkeypatch.setattr(train.BestModel, "improved", lambda best, _: improved(best, -1e9))
    run(tmp_path / "two", epochs=2, resume=str(first))
    assert (tmp_path / "two" / "best.safetensors").exists()


def first_steps(folder: Path, **limit) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The weights before training, and one step of size 1 away, without and with a limit."""
    changes = {
        "start": {"learning_rate": 0.0},
        "free": {"learning_rate": 1.0},
        "clipped": {"learning_rate": 1.0, **limit},
    }
    weights = []
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        for name, change in changes.items():
            run(folder / name, epochs=1, max_steps=1, **change)
            tensors = load_file(folder / name / "model.safetensors")
            weights.append(torch.cat([tensor.flatten() for tensor in tensors.values()]))
    return tuple(weights)


def test_clips_the_gradient_of_the_whole_update(tmp_path, capsys):
    """A clipped step goes where one goes that is not clipped, as far as the norm allows."""
    start, free, clipped = first_steps(tmp_path, clipping_max_norm=0.01)
    rate = float(column(capsys.readouterr().out, "lr")[-1])
    expected = start + (free - start) * 0.01 * rate / (free - start).norm()
    message = "clip once, after the last backward"
    torch.testing.assert_close(clipped, expected, rtol=0, atol=1e-6, msg=message)


def test_early_stopping_ends_the_run(tmp_path, monkeypatch, capsys):
    """It stops after its patience, and a run that is resumed afterwards stays stopped."""
    step, stepped = train.EarlyStopping.step, []

    def stay_the_same(early_stopping, score):
        stepped.append(score)
        step(early_stopping, 0.5)

    monkeypatch.setattr(train.EarlyStopping, "step", stay_the_same)
    run(tmp_path, epochs=9, early_stopping_patience=2)
    assert len(stepped) == 3, "1 evaluation is the best, and 2 are no better"
    assert len(column(capsys.readouterr().out, "loss")) <= 18, "it went on after the evaluation"
    run(tmp_path, epochs=9, early_stopping_patience=2, resume="newest")
    assert not column(capsys.readouterr().out, "loss"), "the stop was forgotten"


def test_metrics_of_a_run_that_goes_on_elsewhere(tmp_path):
    first = run(tmp_path / "one", epochs=1)
    run(tmp_path / "two", epochs=2, resume=str(first))
    lines = (tmp_path / "two" / "metrics.jsonl").read_text().splitlines()
    updates = [json.loads(line)["update"] for line in lines]
    assert updates and min(updates) > 6, "the file has what came after the checkpoint"


def test_metrics_are_written_anew_after_an_earlier_checkpoint(tmp_path):
    first = run(tmp_path, epochs=1)
    once = run(tmp_path, epochs=2, resume=str(first))
    lines = (tmp_path / "metrics.jsonl").read_bytes()
    again = run(tmp_path, epochs=2, resume=str(first))
    assert (tmp_path / "metrics.jsonl").read_bytes() == lines
    assert_same_files(once, again, ["states.pt"])


def test_learning_curves_show_all_metrics(tmp_path, monkeypatch):
    """A panel for each unit, in it a curve for each set, through all of its points."""
    source, target = tmp_path / "metrics.jsonl", tmp_path / "curves.png"
    lines = [
        {"update": 4, "train_loss": 2.0, "val_loss": 3.0, "val_exact_match": 0.1},
        {"update": 8, "train_loss": 1.0, "val_loss": 2.0, "val_exact_match": 0.2},
        {"update": 8, "test_loss": 2.5, "lr": 0.1},
    ]
    source.write_text("\n".join(map(json.dumps, lines)))
    drawn, save = [], Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda fig, path: [drawn.append(fig), save(fig, path)])
    LearningCurves(source, target)()
    found = {
        axes.get_ylabel(): {line.get_label(): line.get_xydata().tolist() for line in axes.lines}
        for axes in drawn[0].axes
    }
    assert found == {
        "loss": {
            "train_loss": [[4, 2.0], [8, 1.0]],
            "val_loss": [[4, 3.0], [8, 2.0]],
            "test_loss": [[8, 2.5]],
        },
        "exact_match": {"val_exact_match": [[4, 0.1], [8, 0.2]]},
        "lr": {"lr": [[8, 0.1]]},
    }
    assert target.read_bytes().startswith(b"\x89PNG")


def test_learning_curves_are_drawn(tmp_path):
    run(tmp_path, epochs=1)
    assert (tmp_path / "curves.png").exists()


@pytest.fixture(autouse=True)
def interruptible(monkeypatch):
    """Ctrl-C ends pytest, and not only the run of a test."""
    monkeypatch.setattr(checkpoint, "SIGNALS", ["SIGTERM", "SIGUSR1"])


@pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR1", "SIGINT"])
def test_signal_saves_and_stops(tmp_path, monkeypatch, name):
    """A run that is told to stop saves, ends with status 75, and can be resumed exactly."""
    monkeypatch.setattr(checkpoint, "SIGNALS", [name])
    number = getattr(signal, name)
    whole = run(tmp_path / "whole", checkpoint_unit="epochs", checkpoint_every=9)
    handler = signal.getsignal(number)
    with pytest.raises(SystemExit) as stop:
        signalled_run(tmp_path / "told", number)
    assert stop.value.code == 75, "a scheduler starts again what ends with 75"
    assert [path.name for path in find_checkpoints(tmp_path / "told")] == ["checkpoint_00000003"]
    changes = {"checkpoint_unit": "epochs", "checkpoint_every": 9, "resume": "newest"}
    resumed = run(tmp_path / "told", **changes)
    assert_same_files(whole, resumed, sorted(path.name for path in whole.iterdir()))
    signal.signal(number, handler)


def test_a_second_interrupt_ends_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SIGNALS", ["SIGINT"])
    with pytest.raises(KeyboardInterrupt):
        signalled_run(tmp_path, signal.SIGINT, times=2)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not find_checkpoints(tmp_path)


def test_signal_to_one_process_stops_all(tmp_path):
    launch(signalled_run, tmp_path)
    stopped = [path.read_text() for path in sorted(tmp_path.glob("stopped*"))]
    assert stopped == ["75", "75"], "no process may go on, or wait for one that ended"
    assert [path.name for path in find_checkpoints(tmp_path)] == ["checkpoint_00000003"]


@pytest.mark.skipif(not hasattr(signal, "sigwaitinfo"), reason="here SIGTERM ends data workers")
def test_a_signal_to_data_workers_too_saves(tmp_path):
    """A scheduler may send it to all processes of a job."""
    with pytest.raises(SystemExit) as stop:
        signalled_run(tmp_path, num_workers=1)
    assert stop.value.code == 75
    assert [path.name for path in find_checkpoints(tmp_path)] == ["checkpoint_00000003"]


def signalled_run(folder: Path, number: int = signal.SIGTERM, times: int = 1, **changes) -> None:
    """Train, and tell the last process and its data workers to stop in its third update."""
    after_update = train.Checkpoints.after_update

    def tell(checkpoints) -> None:
        last = checkpoints.accelerator.num_processes - 1
        if checkpoints.progress.update == 3 and checkpoints.accelerator.process_index == last:
            for _ in range(times):
                os.kill(os.getpid(), number)
            for worker in active_children():  # not by the process that they belong to
                subprocess.run(["kill", f"-{number:d}", str(worker.pid)], check=True)
        after_update(checkpoints)

    with mock.patch.object(train.Checkpoints, "after_update", tell):
        run(folder, checkpoint_unit="epochs", checkpoint_every=9, **changes)


def scheduled_rates(updates: int, **changes) -> list[float]:
    """The learning rate of each update of a run that peaks at 1."""
    config = train.Config(learning_rate=1.0, **changes)
    return [train.learning_rate(update, updates, config) for update in range(updates)]


def test_each_update_has_its_learning_rate(tmp_path, capsys):
    run(tmp_path)
    config = train.Config(**SETTINGS)
    expected = [f"{train.learning_rate(update, 12, config):.2e}" for update in range(12)]
    assert column(capsys.readouterr().out, "lr") == expected, "one step of the schedule an update"


def test_schedule_runs_its_course():
    rates = scheduled_rates(100, schedule_warmup=0.1)
    assert max(rates) == pytest.approx(1.0), "it reaches the peak"
    assert rates[-1] < 0.02 * max(rates), "half a cosine ends near zero"


def test_nan_stops_all_processes(tmp_path):
    """One process meets a NaN: both stop, and neither saves what came of it."""
    launch(nan_run, tmp_path)
    stopped = [path.read_text() for path in sorted(tmp_path.glob("stopped*"))]
    assert len(stopped) == 2, f"{len(stopped)} of 2 processes stopped where the loss is read"
    assert all("take a lower learning rate" in reason for reason in stopped)
    assert not find_checkpoints(tmp_path), "weights that came of NaN were saved"


def nan_run(folder: Path) -> None:
    """Train until the last process meets a NaN, from its third loss on."""
    add = train.RunningLoss.add
    factors = iter([1.0, 1.0])

    def add_nan(train_loss, loss, counted) -> None:
        if train_loss.accelerator.process_index == 1:
            loss = loss * next(factors, float("nan"))
        add(train_loss, loss, counted)

    with mock.patch.object(train.RunningLoss, "add", add_nan):
        run(folder, epochs=1, checkpoint_unit="updates", checkpoint_every=3)


def test_nan_is_not_saved_before_it_is_read(tmp_path, monkeypatch):
    add = train.RunningLoss.add

    def add_nan(train_loss, loss, counted) -> None:
        add(train_loss, loss * float("nan"), counted)

    monkeypatch.setattr(train.RunningLoss, "add", add_nan)
    with pytest.raises(SystemExit, match="nan at update 1: this is not saved"):
        run(tmp_path, log_every=99, checkpoint_unit="updates", checkpoint_every=1)
    assert not find_checkpoints(tmp_path)


def call(function, folder: Path) -> None:
    """Call a function on one of 2 processes. If it stops, note why in a file."""
    try:
        function(folder)
    except SystemExit as stop:
        (folder / f"stopped{os.environ['RANK']}").write_text(str(stop))
        for _ in range(100):  # the launcher ends both as soon as one has ended
            if len(list(folder.glob("stopped*"))) < 2:
                time.sleep(0.1)
        raise


if __name__ == "__main__":
    call(globals()[sys.argv[1]], Path(sys.argv[2]))
