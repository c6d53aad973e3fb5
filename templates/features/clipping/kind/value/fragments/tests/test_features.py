import torch
from helpers import column

#: slot tests
def test_clips_the_gradient_of_the_whole_step(tmp_path, capsys):
    """No element of a clipped step exceeds the limit, and smaller ones stay unchanged."""
    start, free, clipped = first_steps(tmp_path, max_grad_value=1e-3)
    limit = 1e-3 * float(column(capsys.readouterr().out, "lr")[-1])
    assert (free - start).abs().max() > limit, "nothing here would be clipped"
    expected = start + (free - start).clamp(-limit, limit)
    message = "clip once, after the last backward"
    torch.testing.assert_close(clipped, expected, rtol=0, atol=1e-6, msg=message)
