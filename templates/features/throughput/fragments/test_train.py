from unittest import mock

import torch
from accelerate import Accelerator
from callbacks import Throughput
from checkpoint import Progress
from metrics import RunningLoss

#: slot after_resume
# no two runs are equally fast
log, whole_log = (
    [line for line in lines if not line.startswith("speed")] for lines in (log, whole_log)
)

#: slot tests
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
