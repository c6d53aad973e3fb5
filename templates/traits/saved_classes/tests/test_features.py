import pytest

from helpers import run

#: slot tests with distillation
def test_a_teacher_of_other_classes_is_refused(tmp_path):
    folder = run(tmp_path / "teacher", epochs=1, max_steps=2)
    (folder / "classes.json").write_text('["other"]')
    with pytest.raises(SystemExit, match="has the classes other, and the data "):
        run(tmp_path / "student", epochs=1, teacher=str(folder))
