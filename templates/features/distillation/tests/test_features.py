import pytest
import torch
from safetensors.torch import load_file

import train
from helpers import run
from teacher import distill

#: slot tests
def test_a_student_learns_from_its_teacher(tmp_path):
    """The teacher changes what the model learns, and is not changed itself."""
    teacher = run(tmp_path / "teacher", epochs=1, max_steps=2) / "model.safetensors"
    before = teacher.read_bytes()
    folders = [
        run(tmp_path / name, epochs=1, max_steps=2, teacher=folder)
        for name, folder in (("taught", str(teacher.parent)), ("alone", ""))
    ]
    taught, alone = (load_file(folder / "model.safetensors") for folder in folders)
    assert any(not torch.equal(weight, alone[name]) for name, weight in taught.items())
    assert teacher.read_bytes() == before
    with pytest.raises(SystemExit, match="train the teacher first"):
        run(tmp_path / "other", epochs=1, teacher=str(tmp_path / "none"))


def test_the_loss_of_the_teacher_is_a_divergence():
    """By its definition; with equal logits it is 0."""
    config = train.Config(distillation_share=0.25, distillation_temperature=3.0)
    logits, soft_targets = torch.randn(2, 8, 5)
    p, q = (soft_targets / 3).softmax(dim=1), (logits / 3).softmax(dim=1)
    expected = 0.75 * 2.0 + 0.25 * 9 * (p * (p / q).log()).sum(dim=1).mean()
    torch.testing.assert_close(distill(torch.tensor(2.0), logits, soft_targets, config), expected)
    same = distill(torch.tensor(2.0), logits, logits, config)
    torch.testing.assert_close(same, torch.tensor(1.5))
    with pytest.raises(SystemExit, match="has 5 classes, and the model 4: train the teacher with"):
        distill(torch.tensor(2.0), logits[:, :4], soft_targets, config)

#: slot tests with saved_classes
def test_a_teacher_of_other_classes_is_refused(tmp_path):
    folder = run(tmp_path / "teacher", epochs=1, max_steps=2)
    (folder / "classes.json").write_text('["other"]')
    with pytest.raises(SystemExit, match="has the classes other, and the data "):
        run(tmp_path / "student", epochs=1, teacher=str(folder))
