import torch
from helpers import column

#: slot tests
def test_clips_the_gradient_of_the_whole_step(tmp_path, capsys):
    """A clipped step has the direction of the unclipped step, scaled down to the limit."""
    start, free, clipped = first_steps(tmp_path, max_grad_norm=0.01)
    rate = float(column(capsys.readouterr().out, "lr")[-1])
    expected = start + (free - start) * 0.01 * rate / (free - start).norm()
    message = "clip once, after the last backward"
    torch.testing.assert_close(clipped, expected, rtol=0, atol=1e-6, msg=message)
