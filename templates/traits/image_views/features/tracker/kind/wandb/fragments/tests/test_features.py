from unittest import mock

from accelerate import Accelerator
from helpers import run
from PIL import Image

#: slot tests
def test_tracker_gets_the_picture(tmp_path):
    with mock.patch.object(Accelerator, "get_tracker") as get_tracker:
        run(tmp_path, epochs=1)
    [call] = get_tracker.return_value.log_images.call_args_list
    [image] = call.args[0]["views"]
    assert image.size == Image.open(tmp_path / "views.png").size
    assert call.kwargs == {"step": 0}
