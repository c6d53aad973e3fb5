"""The features of this project."""

import csv
import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction
from importlib.machinery import PathFinder
from multiprocessing import active_children
from pathlib import Path
from unittest import mock

import optuna
import pytest
import torch
from accelerate import Accelerator
from accelerate.utils import find_batch_size, set_seed
from matplotlib.figure import Figure
from matplotlib.image import imread
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch import nn
from torch.utils.data import DataLoader

import compare
import confusion
import cross_validate
import evaluate
import export
import lr_finder
import search
import test_resume
import train
from callbacks import Ema, LearningCurves, StopOnSpike, Throughput
from config import Config, find_checkpoints
from data import (
    Augmented,
    BalancedSampler,
    augment,
    build_datasets,
    build_loaders,
    build_more_loaders,
    loading_settings,
)
from errors import draw_images
from helpers import (
    SETTINGS,
    build_exact_model,
    build_sgd,
    column,
    enough_data,
    launch,
    run,
    take,
    without_times,
)
from hooks import HOOKS
from metrics import ClassMetrics, HardBatches, Progress, RunningLoss, count_errors
from micro_batches import MicroBatches
from mixing import mix
from model import build_model
from preemption import StopSignals
from save_on_error import LastStep
from teacher import distill
from test_resume import assert_same_run, last_checkpoint
from workarounds import skip_search_for_lomo, skip_signature_of_zero_grad


def test_every_run_has_the_same_split():
    """For any seed: otherwise one run would train on the test images of another."""
    seen = []
    for seed in (1, 2):
        set_seed(seed)
        parts = build_datasets(train.Config(**SETTINGS))
        seen.append([part[index][0] for part in parts for index in range(min(3, len(part)))])
    assert all(map(torch.equal, *seen))


def test_classes_are_drawn_equally_often():
    """With 100 samples of one class and 900 of the other, half of the draw is of each."""
    labels = torch.arange(1000).remainder(10).eq(0).long()
    sampler = BalancedSampler(labels, seed=0)
    order = list(sampler)
    assert len(order) == 1000
    assert 400 < labels[order].sum() < 600
    sampler.set_epoch(1)
    assert list(sampler) != order, "two epochs have the same draw"


def test_processes_divide_one_draw(tmp_path):
    save_batches(tmp_path)
    launch(save_batches, tmp_path)
    whole = torch.load(tmp_path / "0of1.pt")
    for rank in (0, 1):
        part = torch.load(tmp_path / f"{rank}of2.pt")
        assert all(map(torch.equal, part, whole[rank::2])), "each process has its own draw"


def save_batches(folder: Path) -> None:
    """Save the inputs of the second epoch."""
    accelerator = Accelerator()
    with enough_data():
        loader = accelerator.prepare(build_loaders(train.Config(**SETTINGS))[0])
    loader.set_epoch(1)
    loader.dataset.set_epoch(1)
    batches = [list(batch.values() if isinstance(batch, Mapping) else batch) for batch in loader]
    name = f"{accelerator.process_index}of{accelerator.num_processes}.pt"
    torch.save([batch[0] for batch in batches], folder / name)


def test_best_model_is_the_final_one(tmp_path, monkeypatch, capsys):
    """If every evaluation counts as worse, the first weights are tested and saved."""
    evaluate, update = train.evaluate, train.BestModel.update
    evaluated, looked_at, scores = [], [], []

    def evaluate_and_note(accelerator, model, *rest):
        weights = accelerator.unwrap_model(model).state_dict()
        evaluated.append({key: value.clone() for key, value in weights.items()})
        return evaluate(accelerator, model, *rest)

    def get_worse(best_model, score, model):
        looked_at.append(evaluated[-1])
        scores.append(score)
        update(best_model, -len(scores), model)

    monkeypatch.setattr(train, "evaluate", evaluate_and_note)
    monkeypatch.setattr(train.BestModel, "update", get_worse)
    run(tmp_path)
    final = load_file(tmp_path / "model.safetensors")
    for tested in (evaluated[-1], final):
        best = [torch.equal(tested[name], looked_at[0][name]) for name in final]
        assert all(best), "the best weights must be tested and saved"
    last = [torch.equal(looked_at[-1][name], looked_at[0][name]) for name in final]
    assert not all(last), "no weights were trained between two evaluations"

    name, values = "val_accuracy", []
    for line in capsys.readouterr().out.splitlines():
        if line.startswith(("epoch", "evaluated")) and f" {name} " in line:
            values.append(float(line.split(f" {name} ")[1].split()[0]))
    assert scores == pytest.approx(values, rel=1e-4, abs=1e-3), "higher scores are better"


def test_without_a_best_model_the_last_weights_stay(tmp_path, monkeypatch):
    """As in a run that stops before its first evaluation, or whose scores are all NaN."""
    monkeypatch.setattr(train.BestModel, "update", lambda *_: None)
    run(tmp_path)
    assert (tmp_path / "model.safetensors").exists()


def test_a_resumed_run_gets_its_best_model_back(tmp_path, monkeypatch):
    """Also in another folder, or if another run has replaced the file."""
    first, update = last_checkpoint(run(tmp_path / "one", epochs=1)), train.BestModel.update
    monkeypatch.setattr(train.BestModel, "update", lambda best, _, model: update(best, -1e9, model))
    path = tmp_path / "one" / "best.safetensors"
    best = path.read_bytes()
    path.write_bytes(b"of another run")
    for folder in ("one", "two"):
        run(tmp_path / folder, epochs=2, resume=str(first))
        for name in ("best.safetensors", "model.safetensors"):
            same = (tmp_path / folder / name).read_bytes() == best
            assert same, f"{name} is not the best model of this checkpoint"


def test_a_score_of_another_kind_can_be_resumed(tmp_path, monkeypatch):
    """A checkpoint can't hold such a number, as it can't hold those of NumPy."""
    score, update = Fraction(1, 2), train.BestModel.update
    monkeypatch.setattr(
        train.BestModel, "update", lambda best, _, model: update(best, score, model)
    )
    run(tmp_path, epochs=1)
    run(tmp_path, epochs=2, resume="newest")


def test_filters_have_their_channels_last(tmp_path, monkeypatch):
    """Filters must stay channels-last in prepare() and in each step."""
    model = train.build_model(train.Config(**SETTINGS))
    monkeypatch.setattr(train, "build_model", lambda config: model)
    run(tmp_path, epochs=1, max_steps=2)
    filters = [weight for weight in model.parameters() if weight.ndim == 4]
    last = [weight.is_contiguous(memory_format=torch.channels_last) for weight in filters]
    assert all(last), "the filters have their channels first"


def test_a_flipped_bit_is_noticed(tmp_path, capsys):
    """The run continues from the previous checkpoint."""
    run(tmp_path, epochs=2)
    before, newest = find_checkpoints(tmp_path)
    content = bytearray((newest / "loop.pt").read_bytes())
    content[len(content) // 2] ^= 1
    (newest / "loop.pt").write_bytes(content)
    run(tmp_path, epochs=2, resume="newest")
    log = capsys.readouterr().out
    assert f"{newest} is damaged or incomplete: loop.pt" in log
    assert f"resumed from {before} at step" in log


def weights_after(folder: Path, rate: float, **limit) -> torch.Tensor:
    """The weights after one step of `rate` times the gradient."""
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        run(folder, epochs=1, max_steps=1, learning_rate=rate, **limit)
    tensors = load_file(folder / "model.safetensors")
    return torch.cat([tensor.flatten() for tensor in tensors.values()])


def test_clips_the_gradient_of_the_whole_step(tmp_path):
    """A clipped step has the direction of the unclipped step, scaled down to the limit."""
    start = weights_after(tmp_path / "start", 1e-12)
    gradient = weights_after(tmp_path / "free", 1.0) - start
    norm = float(gradient.norm())
    limit = min(0.01, norm / 2)
    clipped = weights_after(tmp_path / "clipped", 1.0, max_grad_norm=limit)
    expected = start + gradient * limit / norm
    message = "clip once, after the last backward"
    torch.testing.assert_close(clipped, expected, rtol=0, atol=1e-6, msg=message)


def test_runs_are_compared(tmp_path, monkeypatch, capsys):
    """It shows what differs and the metrics of both runs, and reports broken files."""
    for seed in (1, 2):
        run(tmp_path / f"seed{seed}", epochs=1, max_steps=2, seed=seed)
    with (tmp_path / "seed2" / "metrics.jsonl").open("a") as file:
        file.write('{"step": 3, "los')
    broken = tmp_path / "broken" / "config.json"
    broken.parent.mkdir()
    broken.write_text('{"settings":')
    table, picture = tmp_path / "runs.csv", tmp_path / "curves.png"
    flags = [str(tmp_path), "--sort", "test_loss", "--output", str(table), "--plot", str(picture)]
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["compare.py", *flags])
    compare.main()
    printed = capsys.readouterr()
    assert f"{broken} can't be read" in printed.err
    assert "metrics.jsonl, line" in printed.err
    names = printed.out.splitlines()[0].split()
    assert {"seed", "test_loss"} < set(names)
    assert not {"epochs", "output_dir"} & set(names), "a column that is the same in all runs"
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert sorted(row["seed"] for row in rows) == ["1", "2"]
    first, second = (float(row["best test_loss"]) for row in rows)
    assert first <= second, "the best run comes first"
    for row in rows:
        assert (row["state"], row["step"]) == ("finished", "2")
        lines = (tmp_path / f"seed{row['seed']}" / "metrics.jsonl").read_text().splitlines()
        test = next(line for line in map(json.loads, lines) if "test_loss" in line)
        assert float(row["test_loss"]) == test["test_loss"]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_confusion_matrix_has_each_sample_once(tmp_path):
    """Of 33 samples in batches of 4, on 1 and on 2 processes."""
    count_33(tmp_path)
    launch(count_33, tmp_path)
    one, two = (json.loads((tmp_path / f"{count}.json").read_text()) for count in (1, 2))
    assert one["counts"] == two["counts"]
    counts = torch.tensor(one["counts"])
    assert counts.sum() == 33
    assert float(counts.trace() / 33) == pytest.approx(one["accuracy"])


def count_33(folder: Path) -> None:
    """Evaluate 33 samples after another evaluation."""
    accelerator = Accelerator()
    set_seed(1)
    model = accelerator.prepare(build_model(train.Config(**SETTINGS)))
    loader = build_loaders(train.Config(**SETTINGS))[1]
    for size in (5, 33):
        batches = DataLoader(take(loader, size), 4, collate_fn=loader.collate_fn)
        metrics = train.evaluate(accelerator, model, accelerator.prepare(batches), "val", 0)
    facts = {"counts": train.confusion_plot.count().tolist(), "accuracy": metrics["val_accuracy"]}
    if accelerator.is_main_process:
        (folder / f"{accelerator.num_processes}.json").write_text(json.dumps(facts))


def test_the_confusion_matrix_is_drawn(tmp_path):
    """With more classes than a picture shows, too."""
    run(tmp_path, epochs=1)
    picture = tmp_path / "confusion.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    plot = confusion.ConfusionPlot()
    labels = torch.arange(100)
    plot.add(labels, labels.flip(0))
    assert plot.count()[3, 96] == 1 and plot.count().sum() == 100
    plot.draw(tmp_path / "large.png")
    assert (tmp_path / "large.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_survives_a_confusion_matrix_that_cannot_be_drawn(tmp_path, monkeypatch, capsys):
    def fail(*_) -> None:
        raise ValueError("no canvas")

    monkeypatch.setattr(Figure, "savefig", fail)
    run(tmp_path, epochs=1)
    assert "confusion.png was not drawn: ValueError('no canvas')" in capsys.readouterr().out


def test_each_sample_is_held_out_once():
    """The folds share no sample and leave none out; the test data are always the same."""
    held_out, sizes = [], set()
    for fold in range(4):
        config = train.Config(**SETTINGS, cross_validation_fold=fold)
        train_loader, val_loader, test_loader = build_loaders(config)
        held_out += val_loader.dataset.indices
        sizes.add((len(train_loader.dataset) + len(val_loader.dataset), len(test_loader.dataset)))
    assert len(sizes) == 1, "each sample is either held out or trained on"
    assert sorted(held_out) == list(range(sizes.pop()[0]))
    with pytest.raises(SystemExit, match="counted from 0"):
        build_loaders(train.Config(**SETTINGS, cross_validation_fold=4))
    with pytest.raises(SystemExit, match="--cross-validation-folds 1000000: there are"):
        build_loaders(train.Config(**{**SETTINGS, "cross_validation_folds": 10**6}))


def test_cross_validation_reports_all_folds(tmp_path, monkeypatch, capsys):
    flags = ["--cross-validation-folds", "2", "--output-dir", str(tmp_path)]
    flags += ["--epochs", "1", "--limit-batches", "2", "--batch-size", "2"]
    monkeypatch.setattr(sys, "argv", ["cross_validate.py", *flags])
    monkeypatch.chdir(Path(train.__file__).parent)
    cross_validate.main()
    summary = json.loads((tmp_path / "summary.json").read_text())
    found = summary["test_loss"]
    low, high = sorted(found["folds"])
    assert low < high, "two folds have the same result"
    assert found["mean"] == pytest.approx((low + high) / 2)
    assert found["deviation"] == pytest.approx((high - low) / 2**0.5)
    assert f"test_loss {(low + high) / 2:.4f} ± " in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--seed", "7"])
    with pytest.raises(SystemExit, match="other settings: seed is 7, and was 0"):
        cross_validate.main()
    monkeypatch.setattr(sys, "argv", ["cross_validate.py", *flags])
    folds = iter([{"loss": 1.0, "rate": 1.0}, {"loss": None, "rate": 3.0}])  # NaN in the second
    monkeypatch.setattr(cross_validate, "run_fold", lambda *arguments: next(folds))
    cross_validate.main()
    assert capsys.readouterr().out.endswith("loss is not finite in fold 1\nrate 2.0000 ± 1.4142\n")
    monkeypatch.setattr(sys, "argv", ["cross_validate.py", "--cross-validation-fold", "2"])
    with pytest.raises(SystemExit, match="2"):
        cross_validate.main()


def test_augmentation_depends_on_seed_epoch_and_index():
    images = torch.rand(50, 1, 8, 8)
    data = Augmented(list(zip(images, range(50), strict=True)), train.Config())
    first = [data[index] for index in range(50)]
    assert [label for _, label in first] == list(range(50))
    assert not all(torch.equal(image, one) for (image, _), one in zip(first, images, strict=True))
    data.set_epoch(1)
    second = [data[index][0] for index in range(50)]
    assert not all(torch.equal(one[0], two) for one, two in zip(first, second, strict=True))
    data.set_epoch(0)
    for index in reversed(range(50)):  # in reverse order, with other random draws in between
        torch.rand(1)
        assert torch.equal(data[index][0], first[index][0]), "use the generator of the image"


def test_images_without_labels_are_augmented_too():
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


def test_cudnn_benchmark_is_on(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", False)
    run(tmp_path, epochs=1, max_steps=1)
    assert torch.backends.cudnn.benchmark


def test_hard_batches_are_counted_over_all_processes(tmp_path):
    count_hard_batches(tmp_path)
    launch(count_hard_batches, tmp_path)
    one, two = ((tmp_path / f"{processes}").read_text() for processes in "12")
    assert json.loads(one) == {"step": 0, "epoch": 1 / 2, "next": 1.0}
    # the second process has 2 more hard batches: add up before you divide
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
    for loader in build_loaders(train.Config(**{**SETTINGS, **changes, "num_workers": 2})):
        assert (loader.num_workers, loader.prefetch_factor) == (2, 3)
    for loader in build_loaders(train.Config(**{**SETTINGS, **changes, "num_workers": 0})):
        assert (loader.num_workers, loader.prefetch_factor) == (0, None)


def test_memory_is_page_locked_for_a_device():
    for device in (True, False):
        with mock.patch.object(torch.accelerator, "is_available", lambda device=device: device):
            settings = loading_settings([], train.Config(data_loading_pin_memory=True))
            assert settings["pin_memory"] == device


def test_training_does_not_wait_for_copies(tmp_path):
    checked = mock.patch.object(train, "check_environment", side_effect=InterruptedError)
    with checked as check, pytest.raises(InterruptedError):
        run(tmp_path)
    accelerator = check.call_args.args[0]
    assert accelerator.dataloader_config.non_blocking


def test_persistent_workers_are_refused_if_the_data_change_with_the_epoch():
    config = train.Config(num_workers=1, data_loading_persistent_workers=True)
    assert loading_settings([], config)["persistent_workers"]
    with pytest.raises(SystemExit, match="persistent workers don't see"):
        loading_settings(mock.Mock(spec=["set_epoch"]), config)


def test_resume_with_persistent_workers_is_exact(tmp_path, monkeypatch, capsys):
    dataset = build_loaders(train.Config(**SETTINGS))[0].dataset
    persistent = not hasattr(dataset, "set_epoch")
    monkeypatch.setitem(SETTINGS, "data_loading_persistent_workers", persistent)
    test_resume.test_resume_is_exact(tmp_path, monkeypatch, capsys)


def test_a_student_learns_from_its_teacher(tmp_path):
    """The teacher changes what the model learns, and is not changed itself."""
    teacher = run(tmp_path / "teacher", epochs=1, max_steps=2) / "model.safetensors"
    before = teacher.read_bytes()
    folders = [
        run(tmp_path / name, epochs=1, max_steps=2, teacher=folder)
        for name, folder in (("taught", str(teacher.parent)), ("alone", ""))
    ]
    taught, alone = (load_file(folder / "model.safetensors") for folder in folders)
    assert any(not torch.equal(weight, alone[name]) for name, weight in taught.items())
    assert teacher.read_bytes() == before
    with pytest.raises(SystemExit, match="train the teacher first"):
        run(tmp_path / "other", epochs=1, teacher=str(tmp_path / "none"))


def test_the_loss_of_the_teacher_is_a_divergence():
    """By its definition; with equal logits it is 0."""
    config = train.Config(distillation_share=0.25, distillation_temperature=3.0)
    logits, soft_targets = torch.randn(2, 8, 5)
    p, q = (soft_targets / 3).softmax(dim=1), (logits / 3).softmax(dim=1)
    expected = 0.75 * 2.0 + 0.25 * 9 * (p * (p / q).log()).sum(dim=1).mean()
    torch.testing.assert_close(distill(torch.tensor(2.0), logits, soft_targets, config), expected)
    same = distill(torch.tensor(2.0), logits, logits, config)
    torch.testing.assert_close(same, torch.tensor(1.5))
    with pytest.raises(SystemExit, match="has 5 classes, and the model 4: train the teacher with"):
        distill(torch.tensor(2.0), logits[:, :4], soft_targets, config)


def test_early_stopping_ends_the_run(tmp_path, monkeypatch, capsys):
    update, seen = train.EarlyStopping.update, []

    def stay_the_same(early_stopping, score):
        seen.append(score)
        update(early_stopping, 0.5)

    monkeypatch.setattr(train.EarlyStopping, "update", stay_the_same)
    run(tmp_path, epochs=9, patience=2)
    assert len(seen) == 3, "the first evaluation is the best, then 2 without improvement"
    assert len(column(capsys.readouterr().out, "loss")) <= 18, "training continued after the stop"


def test_an_early_stop_is_remembered(tmp_path, monkeypatch, capsys):
    update = train.EarlyStopping.update
    monkeypatch.setattr(train.EarlyStopping, "update", lambda stopping, _: update(stopping, 0.5))
    run(tmp_path, epochs=9, patience=2)
    capsys.readouterr()
    written = (tmp_path / "metrics.jsonl").read_text()
    run(tmp_path, epochs=9, patience=2, resume="newest")
    assert not column(capsys.readouterr().out, "loss"), "the resumed run trains"
    assert (tmp_path / "metrics.jsonl").read_text() == written


def test_ema_averages_every_step():
    model = nn.Linear(1, 1, bias=False)
    ema = Ema(model, decay=0.25)
    for value in (1.0, 2.0, 3.0):
        nn.init.constant_(model.weight, value)
        ema.update()
    with ema.applied():
        # less of the average remains than decay says: 3/12 after 2 steps, then 0.25
        assert model.weight.item() == pytest.approx(0.25 * (0.25 * 1 + 0.75 * 2) + 0.75 * 3)
    assert model.weight.item() == 3.0, "training continues with the model's own weights"


def test_ema_is_what_is_kept(tmp_path, monkeypatch):
    created = []

    def create(model: nn.Module, decay: float) -> Ema:
        created.append((model, Ema(model, decay)))
        return created[0][1]

    monkeypatch.setattr(train, "Ema", create)
    run(tmp_path, epochs=1)
    model, ema = created[0]
    assert ema.steps == 6, "average the weights after each step"
    own = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    kept = load_file(tmp_path / "model.safetensors")
    with ema.applied():
        for name, weight in model.named_parameters():
            if name in kept:  # of shared weights, one name is saved
                torch.testing.assert_close(kept[name], weight.detach(), msg="save the average")
    names = own.keys() & kept.keys()
    assert not all(torch.equal(own[name], kept[name]) for name in names), "these are not averages"


def test_outputs_of_an_epoch_are_complete(tmp_path):
    """Each sample is kept once, on 1 and on 2 processes; each of 2 keeps about half."""
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
        metrics = train.evaluate(accelerator, model, batches, "val", 0)
    facts = {
        "kept": sum(len(labels) for predictions, labels in train.epoch_outputs.batches),
        "errors": count_errors(*train.epoch_outputs.gather()),
        "accuracy": metrics["val_accuracy"],
    }
    name = f"{accelerator.process_index}of{accelerator.num_processes}"
    (folder / name).write_text(json.dumps(facts))


def test_evaluation_has_its_own_batch_size():
    for eval_batch_size, expected in ((5, 5), (0, 32)):
        changes = {"batch_size": 8, "eval_batch_size": eval_batch_size}
        loaders = build_loaders(train.Config(**{**SETTINGS, **changes}))
        assert [loader.batch_size for loader in loaders] == [8, expected, expected]


def test_evaluate_gives_the_metrics_of_training(tmp_path, monkeypatch):
    """They match to the last digit, and the per-sample metrics agree with them."""
    evaluated, measured = train.evaluate, {}

    def evaluate_and_note(accelerator, model, loader, name, *limit):
        metrics = evaluated(accelerator, model, loader, name, *limit)
        measured.update(metrics)
        return metrics

    monkeypatch.setattr(train, "evaluate", evaluate_and_note)
    run(tmp_path, epochs=1)
    report = write_report(tmp_path, "test", monkeypatch)
    compared = [name for name in measured if name.startswith("test_")]
    assert compared, "nothing was tested"
    for name in compared:
        assert report[name]["value"] == measured[name]


def write_report(folder: Path, split: str, monkeypatch, *flags: str) -> dict:
    """What evaluate.py writes about a run."""
    given = [f"--run={folder}", f"--split={split}", *flags]
    monkeypatch.setattr(sys, "argv", ["evaluate.py", *given])
    evaluate.main()
    return json.loads((folder / "evaluation" / split / "metrics.json").read_text())


def test_the_worst_images_are_drawn(tmp_path, monkeypatch):
    """Those with the highest losses first, bytes as bright as the same numbers from 0 to 1."""
    drawn = []
    monkeypatch.setattr(evaluate, "draw_images", lambda *given: drawn.append(given))
    run(tmp_path, epochs=1)
    write_report(tmp_path, "test", monkeypatch)
    [(path, images, captions)] = drawn
    rows = (tmp_path / "evaluation/test/samples.csv").read_text().splitlines()[1:]
    assert path.name == "worst.png" and 0 < len(images) == len(captions) == min(25, len(rows))
    first = int(rows[0].split(",")[0])
    _, _, loader = evaluate.open_run(evaluate.Accelerator(), tmp_path, "test")
    assert torch.equal(images[0], loader.dataset[first][0])
    draw_images(tmp_path / "bytes.png", [torch.full((1, 4, 4), 102, dtype=torch.uint8)], ["3 | 8"])
    draw_images(tmp_path / "numbers.png", [torch.full((1, 4, 4), 0.4)], ["3 | 8"])
    assert (imread(tmp_path / "bytes.png") == imread(tmp_path / "numbers.png")).all()


def test_evaluates_by_steps(tmp_path, capsys):
    run(tmp_path, evaluate_every=5)
    lines = [line for line in capsys.readouterr().out.splitlines() if "val_loss" in line]
    found = [line.split()[2] for line in lines if line.startswith("evaluated step")]
    assert found == ["5", "10", "12"], "the last of the 12 steps is always evaluated"
    assert not [line for line in lines if line.startswith("epoch")], "evaluated twice"


def test_resume_between_evaluations_is_exact(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(SETTINGS, "evaluate_every", 4)
    test_resume.test_resume_is_exact(tmp_path, monkeypatch, capsys)


def test_more_sets_are_evaluated(tmp_path, capsys):
    """Training samples, in the order of the training data, evaluated like the validation data."""
    config = train.Config(**SETTINGS)
    val_loader = build_loaders(config)[1]
    loader = build_more_loaders(config, val_loader)["fit"]
    assert len(loader.dataset) == len(val_loader.dataset)
    assert len(loader.dataset.dataset) == len(build_datasets(config)[0])
    assert list(loader.dataset.indices) == list(range(len(loader.dataset)))

    evaluate, evaluated = train.evaluate, []

    def look(accelerator, model, loader, name, limit):
        weights = [weight.detach().clone() for weight in model.parameters()]
        evaluated.append((name, weights))
        return evaluate(accelerator, model, loader, name, limit)

    with mock.patch.object(train, "evaluate", look):
        run(tmp_path, epochs=1)
    (val, val_weights), (fit, fit_weights) = evaluated[-3:-1]
    assert (val, fit, evaluated[-1][0]) == ("val", "fit", "test")
    assert all(
        map(torch.equal, val_weights, fit_weights)
    ), "evaluate all sets with the same weights"
    assert " | fit_loss " in capsys.readouterr().out


def test_each_export_computes_the_same(tmp_path, monkeypatch, capsys):
    run(tmp_path, epochs=1)
    for format in export.FORMATS:
        write_export(tmp_path, format, monkeypatch)
        assert f"has the model as {format}" in capsys.readouterr().out
        with pytest.raises(SystemExit, match="exists"):
            write_export(tmp_path, format, monkeypatch)


def test_an_export_that_computes_something_else_is_not_written(tmp_path, monkeypatch):
    run(tmp_path, epochs=1)
    written = export.export_torch

    def change(*given):
        program = written(*given)
        return lambda *inputs: 1.0001 * program(*inputs) + 1e-4

    monkeypatch.setattr(export, "export_torch", change)
    with pytest.raises(SystemExit, match="outputs differ"):
        write_export(tmp_path, "torch", monkeypatch)
    assert not list((tmp_path / "export").iterdir())


def test_a_model_that_branches_on_values_is_refused(tmp_path, monkeypatch):
    """One line with the reason, and nothing is written."""
    run(tmp_path, epochs=1)
    trace = export.trace

    def trace_branch(model, inputs):
        model.register_forward_hook(lambda _, __, output: output if output.sum() > 0 else -output)
        return trace(model, inputs)

    monkeypatch.setattr(export, "trace", trace_branch)
    with pytest.raises(SystemExit, match="Can't export as torch: .*data-dependent"):
        write_export(tmp_path, "torch", monkeypatch)
    assert not list((tmp_path / "export").iterdir())


def write_export(run: Path, format: str, monkeypatch) -> None:
    monkeypatch.setattr(sys, "argv", ["export.py", f"--run={run}", f"--format={format}"])
    export.main()


def test_a_step_searches_neither_the_disk_nor_signatures():
    skip_search_for_lomo()
    skip_signature_of_zero_grad()
    model = torch.nn.Linear(2, 2)
    optimizer = Accelerator().prepare(torch.optim.SGD(model.parameters(), lr=0.1))
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    needless = mock.Mock(side_effect=AssertionError("Accelerate does needless work in a step"))
    with (
        mock.patch.object(inspect, "signature", needless),
        mock.patch.object(PathFinder, "find_spec", needless),
    ):
        optimizer.step()
        optimizer.zero_grad()
    assert model.weight.grad is None


def test_parts_make_the_step_of_the_whole_batch(tmp_path, capsys):
    """With memory for 4 of 16 samples, a step is the same as with memory for all of them."""
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        run(tmp_path / "whole", epochs=1, learning_rate=0.03)
    assert "out of memory" not in capsys.readouterr().out
    small_run(tmp_path / "parts")
    assert "out of memory: each batch is computed in 4 parts" in capsys.readouterr().out
    same = load_file(tmp_path / "whole" / "model.safetensors")
    parts = load_file(tmp_path / "parts" / "model.safetensors")
    for name, weights in parts.items():
        torch.testing.assert_close(weights, same[name], rtol=0, atol=1e-5)
    assert (tmp_path / "parts/parts0").read_text() == "4"


def test_processes_agree_on_the_parts(tmp_path):
    """Only the last process runs out of memory."""
    log = launch(small_run, tmp_path).stdout
    assert "out of memory: each batch is computed in 4 parts" in log
    assert [(tmp_path / f"parts{rank}").read_text() for rank in (0, 1)] == ["4", "4"]
    weights = [(tmp_path / f"weights{rank}").read_text() for rank in (0, 1)]
    assert weights[0] == weights[1], "the weights differ: exchange the gradients"


def test_one_sample_has_to_fit(tmp_path):
    with pytest.raises(SystemExit, match="Not even one sample fits"):
        small_run(tmp_path, memory=0)


def small_run(folder: Path, memory: int = 4) -> None:
    """Train where the last process has memory for `memory` samples."""
    rank, processes = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    created = {}

    def build_limited(config) -> nn.Module:
        def run_out(module, args, kwargs) -> None:
            last = rank == processes - 1
            samples = find_batch_size([*args, *kwargs.values()])
            if last and module.training and samples > memory:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate all of it.")

        model = created["model"] = build_exact_model(config)
        # such as BatchNorm has: processes may wait for those of others before they compute
        model.register_buffer("seen", torch.zeros(()), persistent=False)
        model.register_forward_pre_hook(run_out, with_kwargs=True)
        return model

    def create(*given) -> MicroBatches:
        created["parts"] = MicroBatches(*given)
        return created["parts"]

    fakes = {"build_model": build_limited, "build_optimizer": build_sgd, "MicroBatches": create}
    with mock.patch.multiple(train, **fakes):
        run(folder, epochs=1, learning_rate=0.03)
    weights = [float(weight.detach().double().sum()) for weight in created["model"].parameters()]
    (folder / f"weights{rank}").write_text(json.dumps(weights))
    (folder / f"parts{rank}").write_text(json.dumps(created["parts"].parts))


def test_evaluates_before_training(tmp_path, capsys):
    run(tmp_path, epochs=1)
    lines = capsys.readouterr().out.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("before training"))
    steps = [number for number, line in enumerate(lines) if line.startswith("step")]
    assert "val_loss" in lines[first] and first < steps[0]


def test_a_resumed_run_does_not_repeat_the_first_evaluation(tmp_path, capsys):
    run(tmp_path, epochs=1)
    capsys.readouterr()
    run(tmp_path, epochs=2, resume="newest")
    assert "before training" not in capsys.readouterr().out


def test_gradients_are_exchanged_in_16_bits(tmp_path):
    """The optimizer gets the same gradients on both processes, rounded to 16 bits."""
    launch(compressed_run, tmp_path)
    one, two = (torch.load(tmp_path / f"gradient{rank}.pt") for rank in (0, 1))
    assert torch.equal(one, two)
    assert torch.equal(one, one.half().float()), "these gradients are not compressed"


def compressed_run(folder: Path) -> None:
    """Note the gradients of the last step."""

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


def test_a_learning_rate_is_found(tmp_path, monkeypatch, capsys):
    """Where the loss falls; and nothing of a run is written."""
    monkeypatch.setattr(lr_finder, "STEPS", 8)
    monkeypatch.setattr(train, "build_optimizer", train.build_optimizer)
    config = train.Config(output_dir=tmp_path, **SETTINGS)
    with enough_data():
        rate = lr_finder.find_rate(config)
    assert lr_finder.LOWEST <= rate <= lr_finder.HIGHEST
    assert f"suggested: --learning-rate {rate:.2g}" in capsys.readouterr().out
    lines = (tmp_path / "lr_finder" / "metrics.jsonl").read_text().splitlines()
    assert len([line for line in map(json.loads, lines) if "lr" in line]) == 8
    assert (tmp_path / "lr_finder" / "lr_finder.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["lr_finder"]

    def fail(config):
        raise SystemExit("no data")

    monkeypatch.setattr(train, "main", fail)  # the earlier search must not be its result
    with pytest.raises(SystemExit, match="no data"):
        lr_finder.find_rate(config)


def test_the_loss_falls_fastest_where_it_is_steepest(monkeypatch):
    monkeypatch.setattr(lr_finder, "SMOOTHING", 0.0)
    monkeypatch.setattr(lr_finder, "STEPS", 10)
    means = lr_finder.smooth([2.0, 1.9, 1.2, 1.0, 1.5, 9.0, 0.1])
    assert means == [2.0, 1.9, 1.2, 1.0, 1.5, 9.0]
    assert lr_finder.suggest(means) == (1, 3)


def test_a_loss_that_hardly_falls_is_told_from_one_that_falls():
    noise = [1.0, 1.3, 0.9, 1.1, 1.2, 0.8, 1.0, 1.2, 0.9, 1.1]
    assert lr_finder.hardly_falls(noise * 3, lr_finder.smooth(noise * 3))
    falling = noise + [1 - 0.05 * step for step in range(20)]
    assert not lr_finder.hardly_falls(falling, lr_finder.smooth(falling))


def test_metrics_file_has_each_log_line(tmp_path):
    run(tmp_path, epochs=1)
    lines = map(json.loads, (tmp_path / "metrics.jsonl").read_text().splitlines())
    found = [(line["step"], "lr" in line) for line in lines if "loss" in line]
    assert found == [(step, True) for step in range(1, 7)]


def test_metrics_of_a_run_resumed_in_another_folder(tmp_path):
    first = last_checkpoint(run(tmp_path / "one", epochs=1))
    run(tmp_path / "two", epochs=2, resume=str(first))
    lines = (tmp_path / "one" / "metrics.jsonl").read_text().splitlines()[:-1]  # but the test's
    resumed = (tmp_path / "two" / "metrics.jsonl").read_text().splitlines()
    assert resumed[: len(lines)] == lines and len(resumed) > len(lines) + 1
    steps = [json.loads(line)["step"] for line in resumed]
    assert steps == sorted(steps)


def test_learning_curves_show_all_metrics(tmp_path, monkeypatch):
    """Each metric has a panel, with a curve in its own color for each set."""
    source, target = tmp_path / "metrics.jsonl", tmp_path / "curves.png"
    lines = [
        {"step": 2, "loss": 2.5, "lr": 0.1},
        {"step": 4, "train_loss": 2.0, "val_loss": 3.0, "val_exact_match": 0.1},
        {"step": 8, "train_loss": 1.0, "val_loss": 2.0, "val_exact_match": 0.2},
        {"step": 8, "test_loss": 2.5},
    ]
    source.write_text("\n".join(map(json.dumps, lines)))
    drawn, save = [], Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda fig, path: [drawn.append(fig), save(fig, path)])
    LearningCurves(source, target).draw()
    found = {
        axes.get_ylabel(): {line.get_label(): line.get_xydata().tolist() for line in axes.lines}
        for axes in drawn[0].axes
    }
    assert found == {
        "loss": {
            "loss": [[2, 2.5]],
            "train_loss": [[4, 2.0], [8, 1.0]],
            "val_loss": [[4, 3.0], [8, 2.0]],
            "test_loss": [[8, 2.5]],
        },
        "exact_match": {"val_exact_match": [[4, 0.1], [8, 0.2]]},
        "lr": {"lr": [[2, 0.1]]},
    }
    colors = {(line.get_label()[:3], line.get_color()) for ax in drawn[0].axes for line in ax.lines}
    assert {("tra", "C0"), ("val", "C1"), ("tes", "C2")} < colors
    assert len(colors) == 5, "one color for each set, and gray for the values of steps"
    assert target.read_bytes().startswith(b"\x89PNG")


def test_learning_curves_are_drawn(tmp_path):
    run(tmp_path, epochs=1)
    assert (tmp_path / "curves.png").exists()


def test_a_run_survives_curves_that_cannot_be_drawn(tmp_path, monkeypatch, capsys):
    def fail(*_) -> None:
        raise ValueError("no canvas")

    monkeypatch.setattr(Figure, "savefig", fail)
    run(tmp_path, epochs=1)
    assert "was not drawn: ValueError('no canvas')" in capsys.readouterr().out
    assert (tmp_path / "model.safetensors").exists()


def test_the_curves_show_the_test_at_the_step_of_the_best_model(tmp_path, monkeypatch):
    lines = [{"step": step, "val_accuracy": score} for step, score in ((4, 1), (8, 2), (12, 1))]
    source, target = tmp_path / "metrics.jsonl", tmp_path / "curves.png"
    source.write_text("\n".join(map(json.dumps, [*lines, {"step": 12, "test_loss": 2.5}])))
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, path: drawn.append(figure))
    LearningCurves(source, target).draw()
    found = {line.get_label(): line for axes in drawn[0].axes for line in axes.lines}
    assert found["test_loss"].get_xydata().tolist() == [[8, 2.5]]


def test_a_skipped_step_does_not_count(tmp_path, capsys):
    """If gradients overflow, the step is skipped, and the schedule must not move."""
    skipped = mock.PropertyMock(side_effect=[True, False, True, False, False, False])
    with mock.patch.object(Accelerator, "optimizer_step_was_skipped", skipped):
        run(tmp_path, epochs=1)
    steps = column(capsys.readouterr().out, "step")
    assert steps == ["1/6", "2/6", "3/6", "4/6"], "a skipped step was counted"


@pytest.mark.parametrize(("alpha", "probability"), [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])
def test_an_image_has_its_share(alpha, probability):
    """The mean of a mixed image is the weighted mean of both images."""
    torch.manual_seed(0)
    labels = torch.arange(8)
    images = labels.float().reshape(8, 1, 1, 1).expand(8, 1, 16, 16)
    mixed, others, share = mix(images, labels, alpha, probability)
    expected = share * labels + (1 - share) * others
    torch.testing.assert_close(mixed.mean(dim=(1, 2, 3)), expected)
    assert (0 < share < 1) if alpha and probability else torch.equal(mixed, images)


def test_the_loss_is_that_of_both_labels(tmp_path, monkeypatch, capsys):
    """With equal labels, the loss is that of the label; a wrong label changes it."""

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
    test_resume.test_resume_is_exact(tmp_path, monkeypatch, capsys)


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
        metrics = train.evaluate(accelerator, model, batches, "test", 0)
    if accelerator.is_main_process:
        train.predictions_file.write(folder / f"{accelerator.num_processes}.csv")
        (folder / "accuracy").write_text(str(metrics["test_accuracy"]))
    model = accelerator.free_memory(model)


def test_predictions_are_written(tmp_path):
    run(tmp_path, epochs=1)
    assert len((tmp_path / "predictions.csv").read_text().splitlines()) > 1


CADENCE = {"checkpoint_unit": "epochs", "checkpoint_every": 9}


@pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR1", "SIGINT"])
def test_signal_saves_and_stops(tmp_path, monkeypatch, name):
    """A signal makes the run save and end with status 75, and it resumes exactly."""
    monkeypatch.setattr("preemption.SIGNALS", [name])
    number = getattr(signal, name)
    run(tmp_path / "whole", **CADENCE)
    handler = signal.getsignal(number)
    with pytest.raises(SystemExit) as stop:
        signalled_run(tmp_path / "told", number)
    assert stop.value.code == 75, "a scheduler restarts a run that ends with status 75"
    assert [path.name for path in find_checkpoints(tmp_path / "told")] == ["checkpoint_00000003"]
    run(tmp_path / "told", resume="newest", **CADENCE)
    assert_same_run(tmp_path / "whole", tmp_path / "told")
    signal.signal(number, handler)


def test_a_second_interrupt_ends_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("preemption.SIGNALS", ["SIGINT"])
    with pytest.raises(KeyboardInterrupt):
        signalled_run(tmp_path, signal.SIGINT, times=2)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert [path.name for path in find_checkpoints(tmp_path)] == ["checkpoint_00000003"]


def test_signal_to_one_process_stops_all(tmp_path):
    """Processes check for signals when the loss is logged: here every 2 steps."""
    launch(signalled_run_of_two, tmp_path)
    stopped = [path.read_text() for path in sorted(tmp_path.glob("stopped*"))]
    assert stopped == ["75", "75"], "no process may continue on its own"
    assert [path.name for path in find_checkpoints(tmp_path)] == ["checkpoint_00000004"]


@pytest.mark.skipif(not hasattr(signal, "sigwaitinfo"), reason="here SIGTERM ends data workers")
def test_signal_to_data_workers_saves_too(tmp_path):
    """A scheduler may send it to all processes of a job."""
    with pytest.raises(SystemExit) as stop:
        signalled_run(tmp_path, num_workers=1)
    assert stop.value.code == 75
    assert [path.name for path in find_checkpoints(tmp_path)] == ["checkpoint_00000003"]


def signalled_run(folder: Path, number: int = signal.SIGTERM, times: int = 1, **changes) -> None:
    """Send a signal to the last process and its data workers in the third step."""
    after_step = StopSignals.after_step

    def tell(stop_signals, checkpoints) -> None:
        last = checkpoints.accelerator.num_processes - 1
        if checkpoints.progress.step == 3 and checkpoints.accelerator.process_index == last:
            for _ in range(times):
                os.kill(os.getpid(), number)
            for worker in active_children():  # the sender is not the process that started them
                subprocess.run(["kill", f"-{number:d}", str(worker.pid)], check=True)
        after_step(stop_signals, checkpoints)

    with mock.patch.object(StopSignals, "after_step", tell):
        run(folder, **CADENCE, **changes)


def signalled_run_of_two(folder: Path) -> None:
    signalled_run(folder, log_every=2)


def test_profiler_records_its_steps(tmp_path):
    """Of 6 steps, one is skipped, one warms up, two are recorded, and two run normally."""
    run(tmp_path, epochs=1, profiler_wait=1, profiler_warmup=1, profiler_active=2)
    names = [event["name"] for event in read_trace(tmp_path)]
    steps = {name for name in names if name.startswith("ProfilerStep")}
    assert steps == {"ProfilerStep#2", "ProfilerStep#3"}
    assert any(name.startswith("Optimizer.step") for name in names)
    assert "aten::" in (tmp_path / "profile_0.txt").read_text()


def test_profiler_writes_what_a_short_run_recorded(tmp_path):
    run(tmp_path, max_steps=3, profiler_wait=1, profiler_warmup=1, profiler_active=9)
    assert read_trace(tmp_path), "nothing was recorded"


def read_trace(folder: Path) -> list[dict]:
    return json.loads((folder / "profile_0.json").read_text())["traceEvents"]


def scheduled_rates(steps: int, **changes) -> list[float]:
    """The learning rate of each step of a run, as a fraction of the full rate."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(()))], lr=1.0)
    schedule, rates = train.build_schedule(optimizer, steps, train.Config(**changes)), []
    for _ in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return rates


def test_each_step_has_its_learning_rate(tmp_path, monkeypatch):
    build, found = train.build_optimizer, []

    def build_and_note(model, config):
        optimizer, rates = build(model, config), []
        found.append(rates)

        def note(optimizer, *_) -> None:
            rates.extend(group["lr"] / group["initial_lr"] for group in optimizer.param_groups[:1])

        optimizer.register_step_pre_hook(note)
        return optimizer

    monkeypatch.setattr(train, "build_optimizer", build_and_note)
    run(tmp_path)
    assert found, "nothing was tested"
    for rates in found:
        assert rates == pytest.approx(scheduled_rates(12)), "step the schedule once for each step"


def test_groups_keep_their_own_rates():
    """A group with half the learning rate keeps half the rate at every step."""
    weights = [torch.nn.Parameter(torch.zeros(())) for _ in range(2)]
    groups = [{"params": [weight], "lr": lr} for weight, lr in zip(weights, (1, 0.5), strict=True)]
    optimizer = torch.optim.SGD(groups)
    schedule = train.build_schedule(optimizer, 100, train.Config())
    for _ in range(20):
        optimizer.step()
        schedule.step()
    one, other = [group["lr"] for group in optimizer.param_groups]
    assert one > 0 and other == pytest.approx(one / 2)


def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1)
    assert max(rates) == pytest.approx(1.0), "it reaches the full rate"
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


def test_one_process_can_stop_all(tmp_path):
    """The last one asks for a stop in step 2. All stop at the next log line, that of step 4."""
    result = launch(run_until_stop, tmp_path)
    assert result.returncode == 0, "a process continues alone"
    assert "step 4/" in result.stdout and "step 8/" not in result.stdout
    names = [path.name for path in find_checkpoints(tmp_path)]
    assert names == ["checkpoint_00000003", "checkpoint_00000004"]


def run_until_stop(folder: Path) -> None:
    """Train until the last process asks for a stop in its second step."""

    def ask(run) -> None:
        last = run.accelerator.num_processes - 1
        if run.progress.step == 2 and run.accelerator.process_index == last:
            run.ask_to_stop()

    with mock.patch.dict(HOOKS, {"step_end": [ask]}):
        run(
            folder,
            log_every=4,
            checkpoint_unit="steps",
            checkpoint_every=3,
        )


def test_a_request_to_stop_is_remembered(tmp_path):
    """The request is in the checkpoint of step 3, and takes effect at the next log line."""
    run_until_stop(tmp_path)
    shutil.rmtree(last_checkpoint(tmp_path))  # of step 4, where it stopped
    changes = {"checkpoint_unit": "epochs", "log_every": 4, "max_steps": 9}
    run(tmp_path, resume="newest", **changes)
    last = last_checkpoint(tmp_path).name
    assert last == "checkpoint_00000004", "the resumed run does not stop"
    run(tmp_path, resume="newest", **changes)
    assert last_checkpoint(tmp_path).name == "checkpoint_00000009", "it stops a second time"


RARELY = {"checkpoint_unit": "epochs", "checkpoint_every": 9}


@pytest.mark.parametrize(
    ("owner", "method", "calls", "error"),
    [
        pytest.param(RunningLoss, "add", 9, InterruptedError, id="in a batch"),
        pytest.param(RunningLoss, "add", 3, KeyboardInterrupt, id="Ctrl-C"),
    ],
)
def test_an_error_loses_nothing(tmp_path, monkeypatch, capsys, owner, method, calls, error):
    """A run that is resumed from what was saved ends like one without the error."""
    monkeypatch.setattr(train, "build_model", build_counting(train.build_model))
    run(tmp_path / "whole", **RARELY)
    whole_log = without_times(capsys.readouterr().out)
    with pytest.raises(error):
        run_until_error(tmp_path / "failed", owner, method, calls, error)
    assert "is saved: continue with --resume" in capsys.readouterr().out
    assert len(find_checkpoints(tmp_path / "failed")) == 1
    run(tmp_path / "failed", resume="newest", **RARELY)
    assert_same_run(tmp_path / "whole", tmp_path / "failed")
    step = find_checkpoints(tmp_path / "failed")[0].name.removeprefix("checkpoint_").lstrip("0")
    tail = without_times(capsys.readouterr().out).partition(f" at step {step}\n")[2]
    assert tail and whole_log.endswith(tail), "the log of the resumed run differs"


def test_half_a_step_is_not_saved(tmp_path, capsys):
    with pytest.raises(InterruptedError):
        run_until_error(tmp_path, LastStep, "forget", 2, InterruptedError)
    assert "not saved: the error happened during a step" in capsys.readouterr().out
    assert not find_checkpoints(tmp_path)


def test_one_of_two_processes_saves_nothing(tmp_path):
    result = launch(fail_in_a_batch, tmp_path)
    assert "not saved: all processes" in result.stdout, result.stderr
    assert not find_checkpoints(tmp_path)


def fail_in_a_batch(folder: Path) -> None:
    run_until_error(folder, RunningLoss, "add", 3, InterruptedError)


def run_until_error(folder: Path, owner, name: str, calls: int, error: type) -> None:
    """Train, and raise an error after the given number of calls of a method."""
    method = getattr(owner, name)
    left = iter(range(calls - 1))

    def failing(*arguments):
        result = method(*arguments)
        if next(left, None) is None:
            raise error
        return result

    with mock.patch.object(owner, name, failing):
        run(folder, **RARELY)


def build_counting(build):
    """A model that counts its batches in a buffer, as BatchNorm does."""

    def count(module: nn.Module, *_) -> None:
        if module.training:
            module.batches += 1

    def build_and_count(config) -> nn.Module:
        model = build(config)
        model.register_buffer("batches", torch.zeros(()))
        model.register_forward_hook(count)
        return model

    return build_and_count


def test_settings_of_config_are_searched():
    found = search.suggest(optuna.trial.FixedTrial(vars(Config())))
    assert found and found.items() <= vars(Config()).items(), "a name that is not a field of Config"


def test_a_search_repeats_no_trial(tmp_path):
    """Two trials run at once, each in its own folder. A second start has nothing left to do."""
    command = [sys.executable, "search.py", "--output-dir", str(tmp_path), "--jobs", "2"]
    command += ["--trials", "2", "--epochs", "1", "--limit-batches", "2"]
    project, written = Path(train.__file__).parent, []
    for _ in range(2):
        subprocess.run(command, cwd=project, check=True, capture_output=True)
        written.append([path.stat().st_mtime for path in sorted(tmp_path.glob("*/*"))])
        study = optuna.load_study(study_name="search", storage=f"sqlite:///{tmp_path}/study.db")
        states = [trial.state.name for trial in study.trials]
        assert states == ["COMPLETE"] * 2, (tmp_path / "trial_0001.log").read_text()
    assert written[0] == written[1], "a trial was repeated"
    assert study.trials[0].params.items() <= vars(Config()).items(), "the first has the defaults"
    assert (tmp_path / "trial_0001" / "model.safetensors").exists()


def test_nan_stops_the_run(tmp_path, monkeypatch):
    read = train.RunningLoss.read
    monkeypatch.setattr(train.RunningLoss, "read", lambda loss: read(loss) * float("nan"))
    with pytest.raises(SystemExit, match="The loss is nan at step 1: try a lower learning rate"):
        run(tmp_path)
    assert not (tmp_path / "model.safetensors").exists()


def test_nan_stops_all_processes(tmp_path):
    """One process gets NaN: both stop, and neither saves the weights."""
    launch(nan_run, tmp_path)
    stopped = [path.read_text() for path in sorted(tmp_path.glob("stopped*"))]
    assert len(stopped) == 2, f"{len(stopped)} of 2 processes stopped where the loss is read"
    assert all("try a lower learning rate" in reason for reason in stopped)
    assert not find_checkpoints(tmp_path), "weights after NaN were saved"


def nan_run(folder: Path) -> None:
    """Train until the third loss of the last process, which is NaN like all that follow."""
    add = train.RunningLoss.add
    factors = iter([1.0, 1.0])

    def add_nan(train_loss, loss, counted) -> None:
        if train_loss.accelerator.process_index == 1:
            loss = loss * next(factors, float("nan"))
        add(train_loss, loss, counted)

    with mock.patch.object(train.RunningLoss, "add", add_nan):
        run(folder, epochs=1, checkpoint_unit="steps", checkpoint_every=3)


def test_nan_is_not_saved_before_it_is_read(tmp_path, monkeypatch):
    add = train.RunningLoss.add

    def add_nan(train_loss, loss, counted) -> None:
        add(train_loss, loss * float("nan"), counted)

    monkeypatch.setattr(train.RunningLoss, "add", add_nan)
    with pytest.raises(SystemExit, match="nan at step 1: nothing was saved"):
        run(tmp_path, log_every=99, checkpoint_unit="steps", checkpoint_every=1)
    assert not find_checkpoints(tmp_path)


def test_a_spike_is_far_above_the_running_average():
    stop_on_spike = StopOnSpike(factor=3.0, min_reads=2)
    for loss in (1.0, 9.0, 2.0, 11.9):  # the first two only count; 3 times a mean of 4 is 12
        stop_on_spike.check(loss, 1)
    with pytest.raises(SystemExit, match="is 18 at step 7, and was 5.975 on average"):
        stop_on_spike.check(18.0, 7)
    for loss in 30 * [5.0] + [15.0]:
        stop_on_spike.check(loss, 1)
    assert stop_on_spike.average == pytest.approx(0.9 * 5.0 + 0.1 * 15.0, abs=0.05)
    stop_on_spike = StopOnSpike(factor=3.0)
    for loss in 30 * [-0.9, -0.8]:  # as of a Poisson loss
        stop_on_spike.check(loss, 1)


def test_a_spike_stops_all_processes(tmp_path):
    """The loss of one process rises: both stop when the mean is read."""
    launch(spike_run, tmp_path)
    stopped = [path.read_text() for path in sorted(tmp_path.glob("stopped*"))]
    assert len(stopped) == 2, f"{len(stopped)} of 2 processes stopped"
    assert all("on average" in reason for reason in stopped)


def spike_run(folder: Path) -> None:
    """Train until the losses of the last process are 100 times as high, after 8 steps."""
    add, step = RunningLoss.add, 0

    def add_spike(train_loss, loss, samples) -> None:
        nonlocal step
        step += 1
        spike = train_loss.accelerator.process_index == 1 and step > 8
        add(train_loss, 100 * loss if spike else loss, samples)

    with mock.patch.object(RunningLoss, "add", add_spike):
        run(folder, stop_on_spike_factor=3.0)


def test_a_resumed_run_remembers_the_average(tmp_path, monkeypatch):
    run(tmp_path, max_steps=5)
    read = train.RunningLoss.read
    monkeypatch.setattr(train.RunningLoss, "read", lambda train_loss: 100 * read(train_loss))
    with pytest.raises(SystemExit, match="at step 6"):
        run(tmp_path, resume="newest", stop_on_spike_factor=3.0)


def test_tf32_is_allowed(tmp_path):
    torch.set_float32_matmul_precision("highest")
    run(tmp_path, epochs=1, max_steps=1)
    assert torch.get_float32_matmul_precision() == "high"


def test_speed_and_time_left():
    """64 samples in the 4 seconds since the epoch began; 2 steps in 12 seconds, 3 to go."""
    accelerator, progress = Accelerator(), Progress(step=5)  # as after a resume
    train_loss = RunningLoss(accelerator)
    with mock.patch("callbacks.time") as clock:
        clock.monotonic.side_effect = [0, 8, 12]
        throughput = Throughput(accelerator, train_loss, progress, total_steps=10)
        train_loss.add(torch.tensor(1.0), 32)  # before the checkpoint
        throughput.start_epoch()
        train_loss.add(torch.tensor(1.0), 64)
        train_loss.read()
        progress.step = 7
        line = throughput.read()
    assert line.startswith("speed 16 samples/s | 0:00:18 left | "), line


def test_speed_follows_each_log_line(tmp_path, capsys):
    run(tmp_path, log_every=2)
    lines = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert lines.count("speed") == lines.count("step") == 6


def test_class_metrics_are_exact(tmp_path):
    """They are the same on 1 and 2 processes, count every sample once, and match a manual count."""
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
    right = round(expected["val_accuracy"] * 33)
    assert one["right"] == two["right"] == right, "add() returns the values of its batch"
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
        metrics = train.evaluate(accelerator, model, batches, "val", 0)
    if accelerator.is_main_process:
        path = folder / f"{accelerator.num_processes}.json"
        path.write_text(json.dumps({**facts, "metrics": metrics}))
    model = accelerator.free_memory(model)


def test_tracker_gets_all_metrics(tmp_path, monkeypatch):
    """The metrics of each evaluation and of the test are sent, with their step."""
    log, logged = Accelerator.log, {}

    def log_and_note(accelerator, values, step):
        logged.update(dict.fromkeys(values, step))
        log(accelerator, values, step=step)

    monkeypatch.setattr(Accelerator, "log", log_and_note)
    run(tmp_path, epochs=1)
    names = ["loss", "train_loss", "val_loss", "test_loss"]
    found = [logged.get(name) for name in names]
    assert found == [6, 6, 6, 6], "log the last step, the metrics of the epoch and of the test"


def test_a_missing_tracker_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(train, "get_available_trackers", list)
    with pytest.raises(SystemExit, match="pip install tensorboard"):
        run(tmp_path)


def test_tracker_gets_the_confusion_matrix(tmp_path):
    run(tmp_path, epochs=1)
    files = [EventAccumulator(str(p)).Reload() for p in tmp_path.rglob("events.out.tfevents.*")]
    drawn = [file.Images("confusion") for file in files if "confusion" in file.Tags()["images"]]
    [[image]] = drawn
    assert (image.height, image.width) == imread(tmp_path / "confusion.png").shape[:2]
