import torch
from optimizers import Lion
from torch import nn

#: slot tests
def test_lion_steps_by_the_sign_of_its_momentum():
    weight = nn.Parameter(torch.tensor([1.0, -1.0]))
    optimizer = Lion([weight], lr=0.1, betas=(0.5, 0.75), weight_decay=0.5)
    weight.grad = torch.tensor([0.2, -0.4])
    optimizer.step()  # 5% of the weight decays, then it moves by 0.1 against the gradient
    torch.testing.assert_close(weight.detach(), torch.tensor([0.85, -0.85]))
    weight.grad = torch.tensor([-0.04, 0.6])
    optimizer.step()  # the momentum is a quarter of the first gradient: [0.05, -0.1]
    torch.testing.assert_close(weight.detach(), torch.tensor([0.7075, -0.9075]))
    momentum = optimizer.state[weight]["momentum"]
    torch.testing.assert_close(momentum, torch.tensor([0.0275, 0.075]))
