"""The proof that the loop is right. Run `pytest` after an edit: it says what no longer holds.

Everything here trains on the CPU, where two runs can be compared bit for bit.
"""

import csv
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
from accelerate.utils import find_batch_size, set_seed
from matplotlib.figure import Figure
from safetensors.torch import load_file
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

import checkpoint
import cross_validate
import train
from callbacks import Ema, LearningCurves, StopOnSpike, Throughput
from checkpoint import Progress, find_checkpoints, remaining_batches
from data import (
    Augmented,
    BalancedSampler,
    augment,
    build_datasets,
    build_loaders,
    build_more_loaders,
    loading_settings,
)
from hooks import HOOKS
from metrics import ClassMetrics, HardBatches, RunningLoss, count_errors
from mixing import mix
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
    "cross_validation_folds": 4,
    "num_workers": 1,
    "early_stopping_patience": 99,
    "eval_batch_size": 64,
    "evaluation_by_updates_every": 6,
    "gradient_compression": "no",  # rounded, runs that should be equal are equal only roughly
    "mixed_precision": "no",  # in 16 bits, runs that should be equal are equal only roughly
    "mixing_probability": 0.0,  # what is mixed by chance is other on 1 and 2 processes
    "profiler_wait": 99,
    "stop_on_spike_factor": 1e9,
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
    run(tmp_path, epochs=3, limit_batches=20)
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
    # no two runs are equally fast
    log, whole_log = (
        [line for line in lines if not line.startswith("speed")] for lines in (log, whole_log)
    )
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


def test_every_run_has_the_same_split():
    """Whatever its seed: or images that one run is trained on would be test images of another."""
    seen = []
    for seed in (1, 2):
        set_seed(seed)
        parts = build_datasets(train.Config(**SETTINGS))
        seen.append([torch.stack([part[index][0] for index in range(3)]) for part in parts])
    assert all(map(torch.equal, *seen))


def test_classes_are_drawn_equally_often():
    """Of 1000 samples, 100 are of one class and 900 of the other: half of the draw is of each."""
    labels = torch.arange(1000).remainder(10).eq(0).long()
    sampler = BalancedSampler(labels, seed=0)
    drawn = labels[list(sampler)]
    assert len(drawn) == 1000
    assert 400 < drawn.sum() < 600
    again = list(sampler)
    sampler.set_epoch(1)
    assert list(sampler) != again, "each epoch has a draw of its own"


def test_processes_divide_one_order(tmp_path):
    order_run(tmp_path)
    launch(order_run, tmp_path)
    whole = torch.load(tmp_path / "0of1.pt")
    for rank in (0, 1):
        part = torch.load(tmp_path / f"{rank}of2.pt")
        assert all(map(torch.equal, part, whole[rank::2])), "the processes draw orders of their own"


def order_run(folder: Path) -> None:
    """Note the batches of the second epoch."""
    accelerator = Accelerator()
    loader = accelerator.prepare(build_loaders(train.Config(batch_size=16))[0])
    batches = remaining_batches(accelerator, loader, Progress(epoch=1), len(loader))
    name = f"{accelerator.process_index}of{accelerator.num_processes}.pt"
    torch.save([first(batch) for batch in batches], folder / name)


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


def test_filters_have_their_channels_last(tmp_path, monkeypatch):
    """They must keep it through prepare() and updates."""

    def look(checkpoints) -> None:
        weights = checkpoints.accelerator._models[0].parameters()
        filters = [weight for weight in weights if weight.ndim == 4]
        last = [weight.is_contiguous(memory_format=torch.channels_last) for weight in filters]
        assert all(last), "the filters have their channels first"

    monkeypatch.setattr(train.Checkpoints, "after_update", look)
    run(tmp_path, epochs=1, max_steps=2)


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


def test_each_sample_is_held_out_once():
    """The folds share no sample and leave none out; the test data are always the same."""
    held_out, sizes = [], set()
    for fold in range(4):
        config = train.Config(**SETTINGS, cross_validation_fold=fold)
        train_loader, val_loader, test_loader = build_loaders(config)
        held_out += val_loader.dataset.indices
        sizes.add((len(train_loader.dataset) + len(val_loader.dataset), len(test_loader.dataset)))
    assert len(sizes) == 1, "a sample is either held out or trained with"
    assert sorted(held_out) == list(range(sizes.pop()[0]))
    with pytest.raises(SystemExit, match="counted from 0"):
        build_loaders(train.Config(**SETTINGS, cross_validation_fold=4))


def test_cross_validation_reports_all_folds(tmp_path, monkeypatch, capsys):
    flags = ["--cross-validation-folds", "2", "--output-dir", str(tmp_path)]
    flags += ["--epochs", "1", "--limit-batches", "2", "--batch-size", "16"]
    monkeypatch.setattr(sys, "argv", ["cross_validate.py", *flags])
    monkeypatch.chdir(Path(__file__).parent)
    cross_validate.main()
    summary = json.loads((tmp_path / "summary.json").read_text())
    found = summary["test_loss"]
    low, high = sorted(found["folds"])
    assert low < high, "two folds train with different samples"
    assert found["mean"] == pytest.approx((low + high) / 2)
    assert found["deviation"] == pytest.approx((high - low) / 2**0.5)
    assert f"test_loss {(low + high) / 2:.4f} ± " in capsys.readouterr().out


def test_augmentation_follows_from_seed_epoch_and_index():
    images = torch.rand(50, 1, 8, 8)
    data = Augmented(list(zip(images, range(50), strict=True)), train.Config())
    first = [data[index] for index in range(50)]
    assert [label for _, label in first] == list(range(50))
    assert not all(torch.equal(image, one) for (image, _), one in zip(first, images, strict=True))
    data.set_epoch(1)
    second = [data[index][0] for index in range(50)]
    assert not all(torch.equal(one[0], two) for one, two in zip(first, second, strict=True))
    data.set_epoch(0)
    for index in reversed(range(50)):  # other order, other draws in between
        torch.rand(1)
        assert torch.equal(data[index][0], first[index][0]), "drawn from a state that others move"


def test_images_alone_are_augmented_the_same():
    images = torch.rand(5, 1, 8, 8)
    pairs = Augmented([(image, 0) for image in images], train.Config())
    alone = Augmented(list(images), train.Config())
    assert all(torch.equal(alone[index], pairs[index][0]) for index in range(5))


def test_augmentation_draws_what_was_chosen():
    image = torch.zeros(1, 8, 8)
    image[:, 2:4, 1:6] = torch.rand(2, 5)  # far enough from the edges to come back whole
    generator, config = torch.Generator().manual_seed(0), train.Config()
    drawn = [augment(image, config, generator) for _ in range(200)]
    steps = range(-1, 2)
    moved = [image.roll((down, right), (-2, -1)) for down in steps for right in steps]
    assert all(any(torch.equal(new, one) for one in moved) for new in drawn)
    assert sum(any(torch.equal(new, one) for new in drawn) for one in moved) == 9


def test_cudnn_measures_its_algorithms(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", False)
    run(tmp_path, epochs=1, max_steps=1)
    assert torch.backends.cudnn.benchmark


def test_hard_batches_are_counted_over_all_processes(tmp_path):
    count_hard_batches(tmp_path)
    launch(count_hard_batches, tmp_path)
    one, two = ((tmp_path / f"{processes}").read_text() for processes in "12")
    assert json.loads(one) == {"step": 0, "epoch": 1 / 2, "next": 1.0}
    # the second process has 2 hard ones more: add up before the division
    assert json.loads(two) == {"step": 1 / 2, "epoch": 4 / 6, "next": 1.0}


def count_hard_batches(folder: Path) -> None:
    accelerator = Accelerator()
    hard_batches = HardBatches(accelerator, limit=1.0)
    hard_batches.add(torch.tensor(2.0))
    resumed = HardBatches(accelerator, limit=1.0)
    resumed.load_state_dict(hard_batches.state_dict())
    for loss in [1.0] + 2 * accelerator.process_index * [3.0]:
        resumed.add(torch.tensor(loss))
    facts = {"step": resumed.read_step(), "epoch": resumed.end_epoch()}
    resumed.add(torch.tensor(2.0))
    facts["next"] = resumed.end_epoch()
    if accelerator.is_main_process:
        (folder / f"{accelerator.num_processes}").write_text(json.dumps(facts))


def test_the_loaders_have_the_settings():
    changes = {"data_loading_prefetch_factor": 3, "data_loading_persistent_workers": False}
    for loader in build_loaders(train.Config(num_workers=2, **changes)):
        assert (loader.num_workers, loader.prefetch_factor) == (2, 3)
    for loader in build_loaders(train.Config(num_workers=0, **changes)):
        assert (loader.num_workers, loader.prefetch_factor) == (0, None)


def test_memory_is_page_locked_for_a_device():
    for device in (True, False):
        with mock.patch.object(torch.accelerator, "is_available", lambda device=device: device):
            settings = loading_settings([], train.Config(data_loading_pin_memory=True))
            assert settings["pin_memory"] == device


def test_nothing_waits_for_copies(tmp_path):
    built = mock.patch.object(train, "Checkpoints", side_effect=InterruptedError)
    with built as checkpoints, pytest.raises(InterruptedError):
        run(tmp_path)
    accelerator = checkpoints.call_args.args[0]
    assert accelerator.dataloader_config.non_blocking


def test_a_resumed_run_with_workers_that_stay_is_exact(tmp_path, monkeypatch, capsys):
    config = train.Config(num_workers=0)
    stay = not hasattr(build_loaders(config)[0].dataset, "set_epoch")
    monkeypatch.setitem(SETTINGS, "data_loading_persistent_workers", stay)
    test_resume_is_exact(tmp_path, monkeypatch, capsys, every=8)


def test_workers_that_stay_are_refused_where_they_would_do_harm():
    config = train.Config(num_workers=1, data_loading_persistent_workers=True)
    assert loading_settings([], config)["persistent_workers"]
    with pytest.raises(SystemExit, match="do not see the epoch"):
        loading_settings(mock.Mock(spec=["set_epoch"]), config)


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


def test_ema_averages_every_update():
    model = nn.Linear(1, 1, bias=False)
    ema = Ema(model, decay=0.25)
    for value in (1.0, 2.0, 3.0):
        nn.init.constant_(model.weight, value)
        ema.update()
    with ema.applied():
        # at first less of the average stays than decay says: 3/12 after 2 updates, then 0.25
        assert model.weight.item() == pytest.approx(0.25 * (0.25 * 1 + 0.75 * 2) + 0.75 * 3)
    assert model.weight.item() == 3.0, "training goes on with the model's own weights"


def test_ema_is_what_is_kept(tmp_path):
    last = run(tmp_path, epochs=1)
    own, kept = (load_file(folder / "model.safetensors") for folder in (last, tmp_path))
    assert not all(torch.equal(own[name], kept[name]) for name in own), "these are not averages"


def test_outputs_of_an_epoch_are_complete(tmp_path):
    """Each sample once, on 1 and 2 processes, where each keeps about half of them."""
    keep_33(tmp_path)
    launch(keep_33, tmp_path)
    one, *two = (json.loads((tmp_path / name).read_text()) for name in ("0of1", "0of2", "1of2"))
    assert one["kept"] == 33 and sorted(facts["kept"] for facts in two) == [16, 17]
    for facts in two:
        assert facts["errors"] == one["errors"], "gather the shares of all processes"
    assert sum(one["errors"]) == pytest.approx(33 * (1 - one["accuracy"]))


def keep_33(folder: Path) -> None:
    """Evaluate 33 samples in batches of 4, after another evaluation."""
    accelerator = Accelerator()
    set_seed(1)
    model = accelerator.prepare(build_model(train.Config(**SETTINGS)))
    loader = build_loaders(train.Config(**SETTINGS))[1]
    for size in (5, 33):
        subset = take(loader, size)
        batches = accelerator.prepare(DataLoader(subset, 4, collate_fn=loader.collate_fn))
        metrics = train.evaluate(model, batches, accelerator, "val", 0)
    facts = {
        "kept": sum(len(labels) for predictions, labels in train.epoch_outputs.batches),
        "errors": count_errors(*train.epoch_outputs.gather()),
        "accuracy": metrics["val_accuracy"],
    }
    name = f"{accelerator.process_index}of{accelerator.num_processes}"
    (folder / name).write_text(json.dumps(facts))
    model = accelerator.free_memory(model)


def test_evaluation_has_batches_of_its_own():
    loaders = build_loaders(train.Config(**{**SETTINGS, "batch_size": 8, "eval_batch_size": 5}))
    assert [loader.batch_size for loader in loaders] == [8, 5, 5]


def test_evaluates_every_so_many_updates(tmp_path, capsys):
    run(tmp_path, evaluation_by_updates_every=5)
    lines = [line for line in capsys.readouterr().out.splitlines() if "val_loss" in line]
    found = [line.split()[2] for line in lines if line.startswith("evaluated update")]
    assert found == ["5", "10", "12"], "12 updates in 2 epochs, and the last one is evaluated"
    assert not [line for line in lines if line.startswith("epoch")], "evaluated twice"


def test_resume_between_evaluations_is_exact(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(SETTINGS, "evaluation_by_updates_every", 4)
    test_resume_is_exact(tmp_path, monkeypatch, capsys, every=4)


def test_more_sets_are_evaluated(tmp_path, capsys):
    """Training samples, in the order of the training data, evaluated like the validation data."""
    config = train.Config(**SETTINGS)
    val_loader = build_loaders(config)[1]
    loader = build_more_loaders(config, val_loader)["fit"]
    assert len(loader.dataset) == len(val_loader.dataset)
    assert len(loader.dataset.dataset) == len(build_datasets(config)[0])
    assert list(loader.dataset.indices) == list(range(len(loader.dataset)))

    evaluate, evaluated = train.evaluate, []

    def look(model, loader, accelerator, name, limit):
        weights = [weight.detach().clone() for weight in model.parameters()]
        evaluated.append((name, weights))
        return evaluate(model, loader, accelerator, name, limit)

    with mock.patch.object(train, "evaluate", look):
        run(tmp_path, epochs=1)
    (val, val_weights), (fit, fit_weights) = evaluated[-3:-1]
    assert (val, fit, evaluated[-1][0]) == ("val", "fit", "test")
    assert all(map(torch.equal, val_weights, fit_weights)), "both sets are for the same weights"
    assert " | fit_loss " in capsys.readouterr().out


def test_parts_make_the_update_of_the_whole_batch(tmp_path, capsys):
    """More than 4 samples of 16 run out of memory, on 2 processes on the last of them alone."""
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        run(tmp_path / "whole", epochs=1, learning_rate=0.03)
    assert "out of memory" not in capsys.readouterr().out
    small_run(tmp_path / "parts")
    assert "out of memory: batches in 4 parts" in capsys.readouterr().out
    same = load_file(tmp_path / "whole" / "model.safetensors")
    parts = load_file(tmp_path / "parts" / "model.safetensors")
    for name, weights in parts.items():
        torch.testing.assert_close(weights, same[name], rtol=0, atol=1e-5)
    assert (tmp_path / "parts/parts0").read_text() == "4"


def test_processes_agree_on_the_parts(tmp_path):
    log = launch(small_run, tmp_path).stdout
    assert "out of memory: batches in 4 parts" in log, "the process that ran out is the last one"
    assert [(tmp_path / f"parts{rank}").read_text() for rank in (0, 1)] == ["4", "4"]
    weights = [(tmp_path / f"weights{rank}").read_text() for rank in (0, 1)]
    assert weights[0] == weights[1], "each process went its own way: exchange the gradients"


def test_one_sample_has_to_fit(tmp_path):
    with pytest.raises(SystemExit, match="Not even one sample fits"):
        small_run(tmp_path, memory=0)


def small_run(folder: Path, memory: int = 4) -> None:
    """Train where the last process has memory for so many samples."""
    found = {}

    def build_limited(config) -> nn.Module:
        def run_out(module, args, kwargs) -> None:
            last = int(os.environ.get("RANK", "0")) == int(os.environ.get("WORLD_SIZE", "1")) - 1
            if last and module.training and find_batch_size([*args, *kwargs.values()]) > memory:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate all of it.")

        model = build_exact_model(config)
        # such as BatchNorm has: processes may wait for those of others before they compute
        model.register_buffer("seen", torch.zeros(()), persistent=False)
        model.register_forward_pre_hook(run_out, with_kwargs=True)
        return model

    def look(checkpoints) -> None:
        weights = checkpoints.accelerator._models[0].parameters()
        found["weights"] = [float(weight.detach().double().sum()) for weight in weights]
        found["parts"] = checkpoints.states["micro_batches"].parts

    fakes = {"build_model": build_limited, "build_optimizer": build_sgd}
    with (
        mock.patch.multiple(train, **fakes),
        mock.patch.object(train.Checkpoints, "after_epoch", look),
    ):
        run(folder, epochs=1, learning_rate=0.03)
    rank = os.environ.get("RANK", "0")
    for name, value in found.items():
        (folder / f"{name}{rank}").write_text(json.dumps(value))


def test_evaluates_before_training(tmp_path, capsys):
    """Once, with fresh weights, and not again when the run is resumed."""
    run(tmp_path, epochs=1)
    lines = capsys.readouterr().out.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("before training"))
    updates = [number for number, line in enumerate(lines) if line.startswith("update")]
    assert "val_loss" in lines[first] and first < updates[0]
    run(tmp_path, epochs=2, resume="newest")
    assert "before training" not in capsys.readouterr().out


def test_gradients_are_exchanged_in_16_bits(tmp_path):
    """What the optimizer gets is the same on both processes, and rounded."""
    launch(compressed_run, tmp_path)
    one, two = (torch.load(tmp_path / f"gradient{rank}.pt") for rank in (0, 1))
    assert torch.equal(one, two)
    assert torch.equal(one, one.half().float()), "these gradients have not been compressed"


def compressed_run(folder: Path) -> None:
    """Note the gradients of the last update."""

    def build_noting(model, config) -> torch.optim.Optimizer:
        def note(*step) -> None:
            gradients = [weight.grad.flatten() for weight in model.parameters()]
            torch.save(torch.cat(gradients), folder / f"gradient{os.environ['RANK']}.pt")

        optimizer = build_sgd(model, config)
        optimizer.register_step_pre_hook(note)
        return optimizer

    with mock.patch.object(train, "build_optimizer", build_noting):
        run(folder, epochs=1, gradient_compression="fp16")


def test_processes_on_the_cpu_refuse_bf16(tmp_path):
    launch(refused_run, tmp_path)
    assert "--gradient-compression fp16" in (tmp_path / "stopped0").read_text()


def refused_run(folder: Path) -> None:
    run(folder, gradient_compression="bf16")


def test_labels_are_smooth_in_training_alone(tmp_path, monkeypatch):
    smoothing = {True: set(), False: set()}  # with gradients and without
    functions = train.F

    def look(*arguments, label_smoothing=0.0, **settings):
        smoothing[torch.is_grad_enabled()].add(label_smoothing)
        return functions.cross_entropy(*arguments, label_smoothing=label_smoothing, **settings)

    monkeypatch.setattr(train, "F", mock.Mock(wraps=functions, cross_entropy=look))
    run(tmp_path, epochs=1, label_smoothing=0.2)
    assert smoothing == {True: {0.2}, False: {0.0}}


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


def test_a_skipped_update_does_not_count(tmp_path):
    """Where gradients overflow, the scaler skips the update: the schedule must not move."""
    skipped = mock.PropertyMock(side_effect=[False, True, False, False, False, False])
    with mock.patch.object(Accelerator, "optimizer_step_was_skipped", skipped):
        last = run(tmp_path, epochs=1)
    assert last.name == "checkpoint_00000005", "a skipped update was counted"


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_an_image_has_its_share(probability):
    """Images of one number each: the mean of a mixed one is that of both, by their shares."""
    torch.manual_seed(0)
    labels = torch.arange(8)
    images = labels.float().reshape(8, 1, 1, 1).expand(8, 1, 16, 16)
    mixed, others, share = mix(images, labels, 1.0, probability)
    expected = share * labels + (1 - share) * others
    torch.testing.assert_close(mixed.mean(dim=(1, 2, 3)), expected)
    assert (0 < share < 1) if probability else torch.equal(mixed, images)


def test_the_loss_is_that_of_both_labels(tmp_path, monkeypatch, capsys):
    """The same label twice has its own loss, a wrong one in its place has another."""

    def loss(name: str, share: float, wrong: int) -> float:
        def mix(images, labels, alpha, probability):
            return images, (labels + wrong) % 2, share

        monkeypatch.setattr(train, "mix", mix)
        with mock.patch.object(train, "build_model", build_exact_model):
            run(tmp_path / name, epochs=1, max_steps=1)
        return float(column(capsys.readouterr().out, "loss")[0])

    alone = loss("alone", 1.0, 0)
    other = loss("other", 0.0, 1)
    both = loss("both", 0.25, 1)
    assert other != pytest.approx(alone, abs=1e-3)
    assert both == pytest.approx(0.25 * alone + 0.75 * other, abs=2e-4)


def test_resume_draws_the_same_mixture(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(SETTINGS, "mixing_probability", 1.0)
    test_resume_is_exact(tmp_path, monkeypatch, capsys, 4)


def test_norms_and_biases_do_not_decay():
    model = nn.Sequential(nn.Linear(3, 2), nn.LayerNorm(2))
    config = train.Config(weight_decay=0.1)
    decays = {
        id(parameter): group["weight_decay"]
        for group in train.build_optimizer(model, config).param_groups
        for parameter in group["params"]
    }
    found = {name: decays.get(id(parameter)) for name, parameter in model.named_parameters()}
    assert found == {"0.weight": 0.1, "0.bias": 0.0, "1.weight": 0.0, "1.bias": 0.0}


def test_predictions_are_in_order(tmp_path):
    """The same file on 1 and 2 processes, with the accuracy that is reported."""
    evaluate_33(tmp_path)
    launch(evaluate_33, tmp_path)
    one, two = ((tmp_path / f"{processes}.csv").read_text() for processes in "12")
    assert two == one, "gather in the order of the set, and cut off the padding"
    rows = list(csv.DictReader(one.splitlines()))
    assert [int(row["index"]) for row in rows] == list(range(33))
    right = sum(row["label"] == row["prediction"] for row in rows)
    assert right / 33 == pytest.approx(float((tmp_path / "accuracy").read_text()))


def evaluate_33(folder: Path) -> None:
    """Evaluate 33 test samples in batches of 4, after another evaluation."""
    accelerator = Accelerator()
    set_seed(1)
    model = accelerator.prepare(build_model(train.Config(**SETTINGS)))
    loader = build_loaders(train.Config(**SETTINGS))[2]
    for size in (5, 33):
        subset = take(loader, size)
        batches = accelerator.prepare(DataLoader(subset, 4, collate_fn=loader.collate_fn))
        metrics = train.evaluate(model, batches, accelerator, "test", 0)
    if accelerator.is_main_process:
        train.predictions_file.write(folder / f"{accelerator.num_processes}.csv")
        (folder / "accuracy").write_text(str(metrics["test_accuracy"]))
    model = accelerator.free_memory(model)


def test_predictions_are_written(tmp_path):
    run(tmp_path, epochs=1)
    assert len((tmp_path / "predictions.csv").read_text().splitlines()) > 1


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


def test_profiler_records_the_updates_that_were_asked_for(tmp_path):
    """Of 6 updates the first waits, the second warms up, two are recorded, two are free."""
    run(tmp_path, epochs=1, profiler_wait=1, profiler_warmup=1, profiler_active=2)
    names = [event["name"] for event in read_trace(tmp_path)]
    steps = {name for name in names if name.startswith("ProfilerStep")}
    assert steps == {"ProfilerStep#2", "ProfilerStep#3"}
    assert any(name.startswith("Optimizer.step") for name in names)
    assert "aten::" in (tmp_path / "profile_0.txt").read_text()


def test_profiler_writes_what_a_short_run_had(tmp_path):
    run(tmp_path, max_steps=3, profiler_wait=1, profiler_warmup=1, profiler_active=9)
    assert read_trace(tmp_path), "nothing was recorded"


def read_trace(folder: Path) -> list[dict]:
    return json.loads((folder / "profile_0.json").read_text())["traceEvents"]


@pytest.mark.parametrize("function", ["fail_in_forward", "fail_after_evaluation", "interrupt"])
def test_an_error_loses_nothing(tmp_path, capsys, function):
    """What is saved at an error goes on exactly, whatever the error has cut off."""
    cadence = {"checkpoint_unit": "epochs", "checkpoint_every": 9}
    whole = run(tmp_path / "whole", **cadence)
    whole_log = capsys.readouterr().out
    out = run_alone(function, tmp_path / "failed")
    assert "is saved: go on with --resume" in out, out
    assert len(find_checkpoints(tmp_path / "failed")) == 1
    resumed = run(tmp_path / "failed", resume="newest", **cadence)
    assert_same_files(whole, resumed, sorted(path.name for path in whole.iterdir()))
    reports = [
        [line for line in log.splitlines() if line.startswith(("update ", "epoch "))]
        for log in (whole_log, capsys.readouterr().out)
    ]
    assert reports[1] and reports[0][-len(reports[1]) :] == reports[1]


def test_half_an_update_is_not_saved(tmp_path):
    assert "not saved: there is no whole update" in run_alone("fail_within_update", tmp_path)
    assert not find_checkpoints(tmp_path)


def test_one_of_two_processes_saves_nothing(tmp_path):
    result = launch(fail_in_forward, tmp_path)
    assert "not saved: that takes all processes" in result.stdout, result.stderr
    assert not find_checkpoints(tmp_path)


def run_alone(function: str, folder: Path) -> str:
    """Call a function of this file in a process of its own. Returns what it printed."""
    command = [sys.executable, __file__, function, str(folder)]
    result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert "fail(folder, " in result.stderr, "the error itself must be shown"
    return result.stdout


def fail(folder: Path, owner, name: str, time: int, error: BaseException) -> None:
    """Train until a method has been called so many times."""
    method = getattr(owner, name)
    left = iter(range(time - 1))

    def failing(*arguments):
        result = method(*arguments)
        if next(left, None) is None:
            raise error
        return result

    with mock.patch.object(owner, name, failing):
        run(folder, checkpoint_unit="epochs", checkpoint_every=9)


def fail_in_forward(folder: Path) -> None:
    fail(folder, train.RunningLoss, "add", 9, InterruptedError("of the test"))


def fail_after_evaluation(folder: Path) -> None:
    fail(folder, train.Progress, "end_epoch", 1, InterruptedError("of the test"))


def fail_within_update(folder: Path) -> None:
    fail(folder, train.Checkpoints, "begin_update", 2, InterruptedError("of the test"))


def interrupt(folder: Path) -> None:
    fail(folder, train.RunningLoss, "add", 3, KeyboardInterrupt())


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


def test_hooks_are_called_in_order(tmp_path):
    called = []
    recorders = {
        moment: [
            lambda run, moment=moment, turn=turn: called.append(moment + turn) for turn in "12"
        ]
        for moment in HOOKS
    }
    with mock.patch.dict(HOOKS, recorders):
        run(tmp_path, epochs=1)
    steps = 6 * ["step_start", "step_end"]
    moments = ["run_start", "epoch_start", *steps, "evaluation_start", "evaluation_end"]
    moments += ["epoch_end", "run_end"]
    assert called == [moment + turn for moment in moments for turn in "12"]


def test_a_stop_that_one_process_asks_for_ends_all(tmp_path):
    """Asked for in step 2, it comes with the next log line; a checkpoint between remembers it."""
    assert launch(stopped_run, tmp_path).returncode == 0, "no process may go on alone"
    names = [path.name for path in find_checkpoints(tmp_path)]
    assert names == ["checkpoint_00000003", "checkpoint_00000004"]


def test_a_stop_is_remembered_until_it_comes(tmp_path):
    stopped_run(tmp_path)
    changes = {"checkpoint_unit": "epochs", "log_every": 4, "max_steps": 9}
    resumed = run(tmp_path, resume=str(tmp_path / "checkpoint_00000003"), **changes)
    assert resumed.name == "checkpoint_00000004+", "the stop that was asked for did not come"
    assert run(tmp_path, resume="newest", **changes).name == "checkpoint_00000009"


def stopped_run(folder: Path) -> None:
    """Train until the last process asks for a stop in its second step."""

    def ask(run) -> None:
        last = run.accelerator.num_processes - 1
        if run.progress.update == 2 and run.accelerator.process_index == last:
            run.ask_to_stop()

    with mock.patch.dict(HOOKS, {"step_end": [ask]}):
        run(folder, log_every=4, checkpoint_unit="updates", checkpoint_every=3)


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


def test_a_spike_is_far_above_the_running_average():
    stop_on_spike = StopOnSpike(factor=3.0, min_reads=2)
    for loss in (1.0, 9.0, 2.0, 11.9):  # the first two only count; 3 times a mean of 4 is 12
        stop_on_spike.step(loss, Progress())
    with pytest.raises(SystemExit, match="is 18 at update 7, after 5.975 on average"):
        stop_on_spike.step(18.0, Progress(update=7))
    for loss in 30 * [5.0] + [15.0]:
        stop_on_spike.step(loss, Progress())
    assert stop_on_spike.average == pytest.approx(0.9 * 5.0 + 0.1 * 15.0, abs=0.05)


def test_a_spike_stops_all_processes(tmp_path):
    """One process meets it: both stop where the loss is read."""
    launch(spike_run, tmp_path)
    stopped = [path.read_text() for path in sorted(tmp_path.glob("stopped*"))]
    assert len(stopped) == 2, f"{len(stopped)} of 2 processes stopped where the loss is read"
    assert all("on average" in reason for reason in stopped)


def spike_run(folder: Path) -> None:
    """Train until the losses of the last process are 100 times as high, in the second epoch."""
    add = train.RunningLoss.add

    def add_spike(train_loss, loss, counted) -> None:
        spike = train_loss.accelerator.process_index == 1 and find_checkpoints(folder)
        add(train_loss, 100 * loss if spike else loss, counted)

    with mock.patch.object(train.RunningLoss, "add", add_spike):
        run(folder, checkpoint_unit="epochs", checkpoint_every=1, stop_on_spike_factor=3.0)


def test_a_resumed_run_remembers_the_average(tmp_path, monkeypatch):
    run(tmp_path, max_steps=5)
    read = train.RunningLoss.read
    monkeypatch.setattr(train.RunningLoss, "read", lambda train_loss: 100 * read(train_loss))
    with pytest.raises(SystemExit, match="at update 6"):
        run(tmp_path, resume="newest", stop_on_spike_factor=3.0)


def test_tf32_is_allowed(tmp_path):
    torch.set_float32_matmul_precision("highest")
    run(tmp_path, epochs=1, max_steps=1)
    assert torch.get_float32_matmul_precision() == "high"


def test_speed_and_time_left():
    """64 samples in the 4 seconds since the epoch began; 2 updates in 12 seconds, 3 to go."""
    accelerator, progress = Accelerator(), Progress(update=5)  # as after a resume
    train_loss = RunningLoss(accelerator)
    with mock.patch("callbacks.time") as clock:
        clock.monotonic.side_effect = [0, 8, 12]
        throughput = Throughput(accelerator, train_loss, progress, total_updates=10)
        throughput.start_epoch()
        train_loss.add(torch.tensor(1.0), 64)
        train_loss.read()
        progress.update = 7
        line = throughput.read()
    assert line.startswith("speed 16 samples/s | 0:00:18 left | "), line


def test_speed_is_said_with_each_log_line(tmp_path, capsys):
    run(tmp_path, log_every=2)
    lines = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert lines.count("speed") == lines.count("update") == 6


def test_class_metrics_are_exact(tmp_path):
    """The same on 1 and 2 processes, every sample once, and as counted by hand."""
    evaluate_classes(tmp_path)
    one = json.loads((tmp_path / "1.json").read_text())
    launch(evaluate_classes, tmp_path)
    two = json.loads((tmp_path / "2.json").read_text())
    assert two["labels"] == one["labels"], "33 samples are counted once each, without padding"
    assert two["metrics"] == pytest.approx(one["metrics"], abs=1e-6)

    pairs = list(zip(one["predictions"], one["labels"], strict=True))
    precisions, recalls = [], []
    for label in set(one["predictions"] + one["labels"]):
        hits = pairs.count((label, label))
        precisions.append(hits / max(one["predictions"].count(label), 1))
        recalls.append(hits / max(one["labels"].count(label), 1))
    expected = {
        "val_accuracy": sum(prediction == label for prediction, label in pairs) / len(pairs),
        "val_precision": sum(precisions) / len(precisions),
        "val_recall": sum(recalls) / len(recalls),
    }
    assert (
        one["right"] == two["right"] == round(expected["val_accuracy"] * 33)
    ), "the values of each step"
    assert {name: one["metrics"][name] for name in expected} == pytest.approx(expected, abs=1e-6)


def evaluate_classes(folder: Path) -> None:
    """Evaluate 33 samples in batches of 4, and note what was counted."""
    accelerator = Accelerator()
    set_seed(1)
    model = accelerator.prepare(build_model(train.Config(**SETTINGS)))
    loader = build_loaders(train.Config(**SETTINGS))[1]
    subset = take(loader, 33)
    batches = accelerator.prepare(DataLoader(subset, 4, collate_fn=loader.collate_fn))
    facts = {"predictions": [], "labels": [], "right": 0}

    def add(class_metrics, predictions, labels, classes):
        facts["predictions"] += predictions.tolist()
        facts["labels"] += labels.tolist()
        step = added(class_metrics, predictions, labels, classes)
        facts["right"] += round(step["accuracy"].item() * len(labels))
        return step

    added = ClassMetrics.add
    with mock.patch.object(ClassMetrics, "add", add):
        metrics = train.evaluate(model, batches, accelerator, "val", 0)
    if accelerator.is_main_process:
        path = folder / f"{accelerator.num_processes}.json"
        path.write_text(json.dumps({**facts, "metrics": metrics}))
    model = accelerator.free_memory(model)


def test_tracker_gets_all_metrics(tmp_path, monkeypatch):
    """Those of each evaluation and of the test, with the update that they belong to."""
    log, logged = Accelerator.log, {}

    def log_and_note(accelerator, values, step):
        logged.update(dict.fromkeys(values, step))
        log(accelerator, values, step=step)

    monkeypatch.setattr(Accelerator, "log", log_and_note)
    run(tmp_path, epochs=1)
    names = ["train_loss", "val_loss", "test_loss"]
    found = [logged.get(name) for name in names]
    assert found == [6, 6, 6], "log the metrics of the epoch and of the test, after 6 updates"


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
