import pytest

#: slot tests
def test_logs_the_norm_before_clipping(tmp_path, capsys):
    """A free step is the gradient times the learning rate."""
    start, free, _ = first_steps(tmp_path, clipping_max_norm=0.01)
    log = capsys.readouterr().out
    lines = [line for line in log.splitlines() if line.startswith("gradient norm ")]
    _, norm, clipped = (float(line.split()[2]) for line in lines)
    expected = (free - start).norm().item() / float(column(log, "lr")[-1])
    assert norm == pytest.approx(expected, rel=0.01)
    assert clipped > 0.02, "this is the norm after clipping"
