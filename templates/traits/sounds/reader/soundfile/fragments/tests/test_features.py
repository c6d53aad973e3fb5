import pytest
import soundfile
import torch
from audio import measure_sound, read_sound

#: slot tests
@pytest.mark.parametrize("name", ["sound.flac", "sound.wav"])
def test_sound_files(name, tmp_path):
    """The mean of two channels, and the seconds of the file."""
    channels = torch.tensor([[0.5, 0.0], [-1.0, 0.0]])
    soundfile.write(tmp_path / name, channels.numpy(), 8000)
    assert read_sound(tmp_path / name, 8000).tolist() == [0.25, -0.5]
    assert measure_sound(tmp_path / name) == 2 / 8000


def test_sound_files_that_are_wrong(tmp_path):
    (tmp_path / "text.flac").write_text("no sound")
    soundfile.write(tmp_path / "silent.wav", torch.zeros(0, 1).numpy(), 8000)
    soundfile.write(tmp_path / "nan.wav", torch.tensor([0, torch.nan]).numpy(), 8000, "FLOAT")
    for name in ("cut.wav", "cut.aiff"):
        soundfile.write(tmp_path / name, torch.rand(800).numpy(), 8000)
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    faults = {"text.flac": "", "silent.wav": "no samples", "lost.wav": "no such file"}
    faults |= {"cut.wav": "cut off", "cut.aiff": "cut off", "nan.wav": "not finite"}
    for name, message in faults.items():
        for look in (measure_sound, lambda path: read_sound(path, 8000)):
            with pytest.raises(OSError, match=f"{name} can't be read: .*{message}"):
                look(tmp_path / name)
