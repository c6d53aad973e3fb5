from unittest import mock

import data
from helpers import run

#: slot loss_falls
def test_distance_falls(tmp_path, capsys):
    #: region falls
    run(tmp_path, epochs=4, limit_batches=40)
    #: end falls
    found = capsys.readouterr().out.split("val_distance ")[1:]
    distances = [float(text.split()[0]) for text in found]
    message = f"training does not bring generated images closer to the data: {distances}"
    assert distances[-1] < distances[0], message

#: replace falls when dataset=image_folder
# dark images in place of yours, which may be few or hard to learn
dark = 0.2 * torch.rand(640, 3, 16, 16, generator=torch.Generator().manual_seed(0))
with mock.patch.object(data, "build_datasets", lambda config: [dark] * 3):
    run(tmp_path, epochs=4, limit_batches=40)
