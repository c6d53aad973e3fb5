from unittest import mock

import pytest
import torch
from accelerate import Accelerator
from torch import nn

from callbacks import Throughput
from helpers import run
from metrics import Progress, RunningLoss
from utilization import flops_per_token, peak_flops

#: into tests/helpers.py
#: slot times
log = re.sub(r"speed .*\n", "", log)

#: into tests/test_features.py
#: slot tests
#: region throughput
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
#: end throughput

#: replace throughput with throughput with tokens
def test_speed_and_time_left():
    """64 tokens in the 4 seconds since the epoch began; 2 steps in 12 seconds, 3 to go."""
    accelerator, progress = Accelerator(), Progress(step=5)  # as after a resume
    train_loss = RunningLoss(accelerator)
    with mock.patch("callbacks.time") as clock:
        clock.monotonic.side_effect = [0, 8, 12]
        throughput = Throughput(
            accelerator, train_loss, progress, total_steps=10
            #: slot new_throughput
        )
        train_loss.add(torch.ones(2, 16), torch.zeros(2, 16))  # before the checkpoint
        throughput.start_epoch()
        train_loss.add(torch.ones(4, 16), torch.zeros(4, 16))
        train_loss.read()
        progress.step = 7
        line = throughput.read()
    assert line.startswith("speed 16 tokens/s | 0:00:18 left | "), line


def test_speed_follows_each_log_line(tmp_path, capsys):
    run(tmp_path, log_every=2)
    lines = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert lines.count("speed") == lines.count("step") == 6

#: slot new_throughput when utilization=model_flops
, token_flops=0

#: slot tests when utilization=model_flops
@pytest.mark.parametrize(
    ("name", "peak"),
    [
        ("NVIDIA H100 80GB HBM3", 989e12),
        ("NVIDIA H100 PCIe", 756e12),
        ("NVIDIA A100-SXM4-40GB", 312e12),
        ("NVIDIA L40S", 362e12),
        ("Tesla T4", 65e12),
        ("NVIDIA GeForce RTX 4090", 165e12),
        ("NVIDIA GeForce RTX 4090 D", 165e12),
        ("Quadro RTX 4000", 0),
    ],
)
def test_the_peak_of_a_device_is_found_by_its_name(name, peak):
    with mock.patch("torch.cuda.get_device_name", return_value=name):
        assert peak_flops(torch.device("cuda", 0)) == peak
    assert peak_flops(torch.device("cpu")) == 0


def test_frozen_weights_need_no_gradient():
    model = nn.Linear(10, 10)
    assert flops_per_token(model, 2, 10, 100) == 6 * 110 + 12 * 2 * 10 * 100
    model.weight.requires_grad = False
    assert flops_per_token(model, 2, 10, 100) == 4 * 110 + 2 * 10 + 12 * 2 * 10 * 100


def test_utilization_is_told_where_the_peak_is_known():
    """16 tokens per second at 1000 operations each are 2 % of 800,000."""
    accelerator, progress = Accelerator(), Progress(step=0)
    for peak, expected in ((800_000.0, "MFU 2.0%"), (0.0, None)):
        train_loss = RunningLoss(accelerator)
        with mock.patch("callbacks.time") as clock, mock.patch("callbacks.peak_flops") as found:
            clock.monotonic.side_effect, found.return_value = [0, 0, 4], peak
            throughput = Throughput(accelerator, train_loss, progress, 10, token_flops=1000)
            throughput.start_epoch()
            train_loss.add(torch.ones(4, 16), torch.zeros(4, 16))
            train_loss.read()
            progress.step += 1
            line = throughput.read()
        assert line.endswith(expected) if expected else "MFU" not in line, line
