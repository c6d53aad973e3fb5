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
from pathlib import Path
from unittest import mock

import pytest
import torch
from accelerate import Accelerator, DataLoaderConfiguration
from accelerate.utils import set_seed
from safetensors.torch import load_file
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

import train
from checkpoint import Progress, find_checkpoints, remaining_batches
from data import build_loaders
from model import build_model

os.environ["ACCELERATE_USE_CPU"] = "true"
#: slot environment

# short runs: 2 epochs of 6 updates
SETTINGS = {
    "epochs": 2,
    #: region settings_batches
    "limit_batches": 6,
    #: end settings_batches
    "batch_size": 16,
    "max_steps": 0,
    "log_every": 1,
    "keep_checkpoints": 99,
    #: slot settings
}


def run(folder: Path, **changes) -> Path:
    """Train in this process. Returns the last checkpoint."""
    train.main(train.Config(output_dir=folder, **{**SETTINGS, **changes}))
    return find_checkpoints(folder)[-1]


def assert_same_files(one: Path, other: Path, names: list[str]) -> None:
    for name in names:
        #: region same
        same = (one / name).read_bytes() == (other / name).read_bytes()
        #: end same
        assert same, f"{name} differs: a resumed run must end exactly as one that never stopped"


#: region loss_falls
def test_loss_falls(tmp_path, capsys):
    run(tmp_path, epochs=3, limit_batches=20)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("epoch")]
    losses = [float(line.split("train_loss ")[1].split()[0]) for line in lines]
    assert losses[-1] < losses[0], f"training does not lower the loss: {losses}"


#: end loss_falls
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
    #: slot after_resume
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
    #: region epoch_length
    length = len(loader)
    #: end epoch_length
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
    #: region take
    return Subset(loader.dataset, range(size))
    #: end take


def build_exact_model(config) -> nn.Module:
    """The model without dropout, which draws other numbers for other batches."""
    model = build_model(config)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        #: slot exact_model
    return model


def build_sgd(model, config) -> torch.optim.Optimizer:
    """Plain steps: an adaptive optimizer can blow rounding up to a whole step."""
    #: region sgd
    return torch.optim.SGD(model.parameters(), config.learning_rate)
    #: end sgd


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


#: slot tests


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
