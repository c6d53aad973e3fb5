from helpers import run
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

#: slot tests
def test_tracker_gets_the_picture(tmp_path):
    run(tmp_path, epochs=1)
    files = [EventAccumulator(str(p)).Reload() for p in tmp_path.rglob("events.out.tfevents.*")]
    [image] = [
        one for file in files if "views" in file.Tags()["images"] for one in file.Images("views")
    ]
    assert (image.width, image.height) == Image.open(tmp_path / "views.png").size
