import pytest
import train
from helpers import run

#: slot tests
def test_nan_stops_the_run(tmp_path, monkeypatch):
    read = train.RunningLoss.read
    monkeypatch.setattr(train.RunningLoss, "read", lambda loss: read(loss) * float("nan"))
    with pytest.raises(SystemExit, match="The loss is nan at step 1: try a lower learning rate"):
        run(tmp_path)
    assert not (tmp_path / "model.safetensors").exists()
