from helpers import run
from matplotlib.image import imread
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

#: slot tests
def test_tracker_gets_the_confusion_matrix(tmp_path):
    run(tmp_path, epochs=1)
    files = [EventAccumulator(str(p)).Reload() for p in tmp_path.rglob("events.out.tfevents.*")]
    drawn = [file.Images("confusion") for file in files if "confusion" in file.Tags()["images"]]
    [[image]] = drawn
    assert (image.height, image.width) == imread(tmp_path / "confusion.png").shape[:2]
