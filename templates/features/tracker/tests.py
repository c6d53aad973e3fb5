import tempfile
from unittest import mock

import pytest
from accelerate import Accelerator
from matplotlib.image import imread
from PIL import Image

import train
from helpers import run
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

#: into tests/conftest.py
#: slot environment when kind=wandb
os.environ["WANDB_MODE"] = "disabled"

#: slot environment when kind=mlflow
os.environ["MLFLOW_TRACKING_URI"] = f"sqlite:///{tempfile.mkdtemp()}/mlflow.db"
os.environ["MLFLOW_NESTED_RUN"] = "true"  # a test that stops in the middle leaves its run open

#: slot environment when kind=trackio
os.environ["TRACKIO_DIR"] = tempfile.mkdtemp()

#: slot environment when also=wandb
os.environ["WANDB_MODE"] = "disabled"

#: slot environment when also=mlflow
os.environ["MLFLOW_TRACKING_URI"] = f"sqlite:///{tempfile.mkdtemp()}/mlflow.db"
os.environ["MLFLOW_NESTED_RUN"] = "true"  # a test that stops in the middle leaves its run open

#: slot environment when also=trackio
os.environ["TRACKIO_DIR"] = tempfile.mkdtemp()

#: into tests/test_features.py
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

#: slot tests when also=tensorboard|wandb|mlflow|trackio|aim|dvclive
def test_both_trackers_get_the_metrics(tmp_path, monkeypatch):
    log, told = Accelerator.log, set()

    def log_and_note(accelerator, values, step):
        told.update(tracker.name for tracker in accelerator.trackers)
        log(accelerator, values, step=step)

    monkeypatch.setattr(Accelerator, "log", log_and_note)
    run(tmp_path, epochs=1)
    assert told == {"{{ features.tracker.kind }}", "{{ features.tracker.also }}"}

#: slot tests when kind=tensorboard with result_pictures
def test_tracker_gets_the_picture(tmp_path):
    run(tmp_path, epochs=1)
    [picture] = tmp_path.glob("*_*.png")
    name, step = picture.stem.rsplit("_", 1)
    files = [EventAccumulator(str(p)).Reload() for p in tmp_path.rglob("events.out.tfevents.*")]
    [image] = [one for file in files if name in file.Tags()["images"] for one in file.Images(name)]
    assert image.step == int(step)
    assert (image.width, image.height) == Image.open(picture).size

#: slot tests when kind=tensorboard self_supervised.method=simclr
def test_tracker_gets_the_picture(tmp_path):
    run(tmp_path, epochs=1)
    files = [EventAccumulator(str(p)).Reload() for p in tmp_path.rglob("events.out.tfevents.*")]
    [image] = [
        one for file in files if "views" in file.Tags()["images"] for one in file.Images("views")
    ]
    assert (image.width, image.height) == Image.open(tmp_path / "views.png").size

#: slot tests when kind=wandb with result_pictures
def test_tracker_gets_the_picture(tmp_path):
    with mock.patch.object(Accelerator, "get_tracker") as get_tracker:
        run(tmp_path, epochs=1)
    [picture] = tmp_path.glob("*_*.png")
    name, step = picture.stem.rsplit("_", 1)
    [call] = get_tracker.return_value.log_images.call_args_list
    [[key, [image]]] = call.args[0].items()
    assert (key, image.size) == (name, Image.open(picture).size)
    assert call.kwargs == {"step": int(step)}

#: slot tests when kind=wandb self_supervised.method=simclr
def test_tracker_gets_the_picture(tmp_path):
    with mock.patch.object(Accelerator, "get_tracker") as get_tracker:
        run(tmp_path, epochs=1)
    [call] = get_tracker.return_value.log_images.call_args_list
    [image] = call.args[0]["views"]
    assert image.size == Image.open(tmp_path / "views.png").size
    assert call.kwargs == {"step": 0}

#: slot tests when kind=tensorboard with confusion_matrix
def test_tracker_gets_the_confusion_matrix(tmp_path):
    run(tmp_path, epochs=1)
    files = [EventAccumulator(str(p)).Reload() for p in tmp_path.rglob("events.out.tfevents.*")]
    drawn = [file.Images("confusion") for file in files if "confusion" in file.Tags()["images"]]
    [[image]] = drawn
    assert (image.height, image.width) == imread(tmp_path / "confusion.png").shape[:2]

#: slot tests when kind=wandb with confusion_matrix
def test_tracker_gets_the_confusion_matrix(tmp_path):
    with mock.patch.object(Accelerator, "get_tracker") as get_tracker:
        run(tmp_path, epochs=1)
    calls = get_tracker.return_value.log_images.call_args_list
    [picture] = [call.args[0]["confusion"][0] for call in calls if "confusion" in call.args[0]]
    assert (picture == imread(tmp_path / "confusion.png")).all()
