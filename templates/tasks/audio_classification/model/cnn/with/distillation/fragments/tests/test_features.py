import pytest
from helpers import run

#: slot tests
def test_a_teacher_of_other_spectrograms_is_refused(tmp_path):
    folder = run(tmp_path / "teacher", epochs=1, max_steps=2)
    with pytest.raises(SystemExit, match="has mels 64, and this run 32: use the same"):
        run(tmp_path / "student", epochs=1, teacher=str(folder), mels=32)
