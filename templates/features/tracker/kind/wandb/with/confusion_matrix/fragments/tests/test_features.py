from unittest import mock

from accelerate import Accelerator
from helpers import run
from matplotlib.image import imread

#: slot tests
def test_tracker_gets_the_confusion_matrix(tmp_path):
    with mock.patch.object(Accelerator, "get_tracker") as get_tracker:
        run(tmp_path, epochs=1)
    calls = get_tracker.return_value.log_images.call_args_list
    [picture] = [call.args[0]["confusion"][0] for call in calls if "confusion" in call.args[0]]
    assert (picture == imread(tmp_path / "confusion.png")).all()
