import torch
from callbacks import clip_adaptively
from torch import nn

#: slot tests
def test_clips_each_unit_beside_its_weights():
    matrix, vector = nn.Parameter(torch.tensor([[3.0, 4.0], [6.0, 8.0]])), nn.Parameter(
        torch.zeros(2)
    )
    matrix.grad = torch.tensor([[0.0, 2.0], [0.3, 0.4]])
    vector.grad = torch.tensor([0.3, 0.4])
    clip_adaptively([matrix, vector], 0.1)
    # the norms of the rows are 5 and 10: 0.5 and 1.0 are allowed
    torch.testing.assert_close(matrix.grad, torch.tensor([[0.0, 0.5], [0.3, 0.4]]))
    # weights of zero count as 0.001: a norm of 0.0001 is allowed
    torch.testing.assert_close(vector.grad, torch.tensor([0.00006, 0.00008]))


def test_clips_the_gradient_of_the_whole_step(tmp_path):
    start, free, clipped = first_steps(tmp_path, max_grad_ratio=1e-6)
    assert (free - start).norm() > 0, "the rate of the first step is zero"
    message = "clip once, after the last backward"
    assert (clipped - start).norm() < 1e-2 * (free - start).norm(), message
