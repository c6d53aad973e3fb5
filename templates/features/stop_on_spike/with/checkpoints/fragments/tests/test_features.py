import pytest
import train
from helpers import run

#: slot tests
def test_a_resumed_run_remembers_the_average(tmp_path, monkeypatch):
    run(tmp_path, max_steps=5)
    read = train.RunningLoss.read
    monkeypatch.setattr(train.RunningLoss, "read", lambda train_loss: 100 * read(train_loss))
    with pytest.raises(SystemExit, match="at step 6"):
        run(tmp_path, resume="newest", stop_on_spike_factor=3.0)
