import pytest
import train
from helpers import run
from accelerate import Accelerator

#: slot tests
def test_tracker_gets_all_metrics(tmp_path, monkeypatch):
    """The metrics of each evaluation and of the test are sent, with their step."""
    log, logged = Accelerator.log, {}

    def log_and_note(accelerator, values, step):
        logged.update(dict.fromkeys(values, step))
        log(accelerator, values, step=step)

    monkeypatch.setattr(Accelerator, "log", log_and_note)
    run(tmp_path, epochs=1)
    names = ["loss", "train_loss", "val_{{ task.metrics[0] }}", "test_{{ task.metrics[0] }}"]
    found = [logged.get(name) for name in names]
    assert found == [6, 6, 6, 6], "log the last step, the metrics of the epoch and of the test"


def test_a_missing_tracker_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(train, "get_available_trackers", list)
    with pytest.raises(SystemExit, match="pip install {{ features.tracker.kind }}"):
        run(tmp_path)
