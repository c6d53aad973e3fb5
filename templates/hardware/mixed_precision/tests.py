from unittest import mock

from accelerate import Accelerator

from helpers import column, run

#: into tests/helpers.py
#: slot settings
"mixed_precision": "no",  # in 16 bits, results match only roughly

#: into tests/test_features.py
#: slot tests
def test_a_skipped_step_does_not_count(tmp_path, capsys):
    """If gradients overflow, the step is skipped, and the schedule must not move."""
    skipped = mock.PropertyMock(side_effect=[True, False, True, False, False, False])
    with mock.patch.object(Accelerator, "optimizer_step_was_skipped", skipped):
        run(tmp_path, epochs=1)
    steps = column(capsys.readouterr().out, "step")
    assert steps == ["1/6", "2/6", "3/6", "4/6"], "a skipped step was counted"
