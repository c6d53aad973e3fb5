from unittest import mock

from accelerate import Accelerator

#: slot settings
"mixed_precision": "no",  # in 16 bits, runs that should be equal are equal only roughly

#: slot tests
def test_a_skipped_update_does_not_count(tmp_path):
    """Where gradients overflow, the scaler skips the update: the schedule must not move."""
    skipped = mock.PropertyMock(side_effect=[False, True, False, False, False, False])
    with mock.patch.object(Accelerator, "optimizer_step_was_skipped", skipped):
        last = run(tmp_path, epochs=1)
    assert last.name == "checkpoint_00000005", "a skipped update was counted"
