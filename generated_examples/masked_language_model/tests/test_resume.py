"""A resumed run ends with the same bits as one that never stopped."""

import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import torch
from accelerate import Accelerator, DataLoaderConfiguration
from accelerate.utils import load
from safetensors.torch import load_file

import train
from config import find_checkpoints, parse_config
from data import build_loaders
from helpers import SETTINGS, column, enough_data, run, without_times

GENERATOR = "Pass generator=torch.Generator() to DataLoader, and give random transforms their own."


def last_checkpoint(folder: Path) -> Path:
    return find_checkpoints(folder)[-1]


def assert_same_run(one: Path, other: Path) -> None:
    """Compare the outputs and the last checkpoints of two runs, byte by byte."""
    outputs = {path.name for path in one.iterdir() if path.is_file()} - {"config.json", "run.lock"}
    first, second = last_checkpoint(one), last_checkpoint(other)
    saved = {path.name for path in first.iterdir()} - {"config.json", "digests.json"}
    files = [(one / name, other / name) for name in sorted(outputs)]
    files += [(first / name, second / name) for name in sorted(saved)]
    # random states first: if they differ, so does everything that depends on them
    for pair in sorted(files, key=lambda pair: pair[0].suffix != ".pkl"):
        assert_same_file(*pair)


def assert_same_file(one: Path, other: Path) -> None:
    same = one.read_bytes() == other.read_bytes()
    message = "a resumed run must end like one that never stopped"
    assert same, f"{one.name} differs: {message}. {find_difference(one, other)}"


def find_difference(one: Path, other: Path) -> str:
    """The tensor, random state or line that differs first, and what to do."""
    if one.suffix == ".safetensors":
        first, second = load_file(one), load_file(other)
    elif one.suffix in (".bin", ".pkl", ".pt"):
        first, second = map(load, (one, other))
    else:
        lines = (path.read_bytes().splitlines() for path in (one, other))
        first, second = ({f"line {n}": line for n, line in enumerate(part, 1)} for part in lines)
    first, second = flatten(first), flatten(second)
    name = next((name for name in first if first[name] != second.get(name)), "the end")
    advice = GENERATOR if one.suffix == ".pkl" else "Save what changes it in checkpoints."
    return f"The first difference is {name}. {advice}"


def flatten(values, name: str = "") -> dict:
    """Values by their names."""
    if isinstance(values, Mapping | list | tuple):
        items = values.items() if isinstance(values, Mapping) else enumerate(values)
        parts = [flatten(value, f"{name}.{key}".strip(".")) for key, value in items]
        return {key: value for part in parts for key, value in part.items()}
    return {name: values.tolist() if hasattr(values, "tolist") else values}


def test_resume_is_exact(tmp_path, monkeypatch, capsys):
    """A run is killed in the first epoch, after its end, and in the second epoch."""
    cadence = {"checkpoint_unit": "steps", "checkpoint_every": 2}
    run(tmp_path / "whole", **cadence)
    whole_log = without_times(capsys.readouterr().out)

    resumed = tmp_path / "resumed"
    run_until(5, monkeypatch, resumed, **cadence)
    run_until(7, monkeypatch, resumed, resume="newest", **cadence)
    run_until(9, monkeypatch, resumed, resume="newest", **cadence)
    capsys.readouterr()
    run(resumed, resume="newest", **cadence)
    log = without_times(capsys.readouterr().out)

    assert_same_run(tmp_path / "whole", resumed)
    assert column(log, "step")[0] == "9/12"
    steps = log[log.index("\nstep ") :]
    assert whole_log.endswith(steps), "the log of the resumed run differs"


def run_until(step: int, monkeypatch, folder: Path, **changes) -> None:
    """Train until a step is logged, before its checkpoint is saved."""
    log_line = train.log

    def stop(text: str) -> None:
        log_line(text)
        if text.startswith(f"step {step}/"):
            raise SystemExit("killed")

    with monkeypatch.context() as patch:
        patch.setattr(train, "log", stop)
        with pytest.raises(SystemExit, match="killed"):
            run(folder, **changes)


def test_a_resumed_epoch_has_the_same_order(tmp_path):
    accelerator = Accelerator(
        dataloader_config=DataLoaderConfiguration(use_seedable_sampler=True, data_seed=0)
    )
    with enough_data():
        loader = accelerator.prepare(build_loaders(train.Config(**SETTINGS))[0])
    orders = []
    for epoch, skipped in ((0, 0), (1, 0), (1, 2)):
        loader.set_epoch(epoch)
        batches = accelerator.skip_first_batches(loader, skipped) if skipped else loader
        orders.append([first(batch) for batch in batches])
    assert not all(map(torch.equal, orders[0], orders[1])), "two epochs have the same order"
    assert all(map(torch.equal, orders[1][2:], orders[2])), "a resumed epoch has a different order"
    assert len(orders[2]) == len(orders[1]) - 2


def test_reading_batches_leaves_the_random_numbers_alone():
    """Resuming an epoch or evaluating more often must not change the dropout."""
    with enough_data():
        loaders = build_loaders(train.Config(**SETTINGS))
    for name, loader in zip(("training", "validation", "test"), loaders, strict=True):
        numbers = torch.get_rng_state()
        next(iter(loader))
        same = torch.equal(torch.get_rng_state(), numbers)
        assert same, f"the {name} loader advances the RNG of dropout. {GENERATOR}"


def first(batch) -> torch.Tensor:
    return next(iter(batch.values() if isinstance(batch, Mapping) else batch))


def test_resume_takes_the_settings_of_the_checkpoint(tmp_path, capsys):
    """Flags override saved settings, and the log shows both values."""
    run(tmp_path, epochs=1)
    config = parse_config("", ["--output-dir", str(tmp_path), "--resume", "--epochs", "2"])
    saved = train.Config(output_dir=tmp_path, **{**SETTINGS, "epochs": 1})
    assert config == replace(saved, resume=str(last_checkpoint(tmp_path)), epochs=2)
    with enough_data():
        train.main(config)
    assert "epochs is 2, and was 1 when the checkpoint was saved" in capsys.readouterr().out


def test_another_run_is_never_overwritten(tmp_path, capsys):
    run(tmp_path, epochs=2)
    with pytest.raises(SystemExit, match="choose another --output-dir"):
        run(tmp_path)
    first, last = find_checkpoints(tmp_path)
    assert parse_config("", ["--resume", str(last)]).output_dir == tmp_path
    config = parse_config("", ["--resume", str(first)])
    assert config.output_dir != tmp_path, "the newer checkpoint must stay"
    with pytest.raises(SystemExit, match="choose another --output-dir"), enough_data():
        train.main(replace(config, output_dir=tmp_path))
    with pytest.raises(SystemExit, match="learning_rate was"), enough_data():
        train.main(replace(config, output_dir=tmp_path / "new", learning_rate=0.5))


def test_one_process_trains_in_a_folder(tmp_path):
    parent = psutil.Process(os.getppid())  # any other process that is alive
    lock = f"{platform.node()} {parent.pid} {parent.create_time()}"
    (tmp_path / "run.lock").write_text(lock)
    with pytest.raises(SystemExit, match=f"Process {parent.pid} on .* is training in"):
        run(tmp_path, epochs=1)
    (tmp_path / "run.lock").write_text(f"{platform.node()} {parent.pid} 1.0")  # it has ended
    run(tmp_path, epochs=1)


def test_damage_is_noticed(tmp_path):
    run(tmp_path, epochs=1)
    (last_checkpoint(tmp_path) / ".DS_Store").touch()  # of another program: no damage
    run(tmp_path, resume="newest")
    weights = next(last_checkpoint(tmp_path).glob("*random_states*"))
    content = bytearray(weights.read_bytes())
    content[len(content) // 2] ^= 1
    weights.write_bytes(content)
    with pytest.raises(SystemExit, match="is damaged"):
        run(tmp_path, resume="newest")


def test_kill_loses_nothing(tmp_path):
    """A run killed while saving continues from the newest complete checkpoint."""
    cadence = {"checkpoint_unit": "steps", "checkpoint_every": 1, "keep_checkpoints": 0}
    run(tmp_path / "whole", **cadence)
    folder = tmp_path / "killed"
    flags = {**SETTINGS, **cadence, "output_dir": folder}
    # train.py from the command line, with enough data
    code = "import runpy, helpers\nwith helpers.enough_data(): "
    code += "runpy.run_path('train.py', run_name='__main__')"
    command = [sys.executable, "-c", code]
    for name, value in flags.items():
        flag, is_switch = name.replace("_", "-"), isinstance(value, bool)
        command.append(f"--no-{flag}" if is_switch and not value else f"--{flag}")
        command += [] if is_switch else [str(value)]
    project = Path(train.__file__).parent
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(command, cwd=project, env=env, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        saving = any(folder.glob("checkpoint_*.partial"))
        if saving and len(find_checkpoints(folder)) >= 3:
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.001)
    message = "no checkpoint was seen in a scratch folder: it must get its name once it is complete"
    assert process.wait() == -signal.SIGKILL, message
    while psutil.pid_exists(int((folder / "run.lock").read_text().split()[1])):
        time.sleep(0.01)  # it may have been started by another one
    run(folder, resume="newest", **cadence)
    assert_same_run(tmp_path / "whole", folder)
