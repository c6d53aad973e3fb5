from unittest import mock
import torch
from accelerate import Accelerator
from callbacks import Throughput
from progress import Progress
from metrics import RunningLoss
from helpers import run

#: slot tests
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
