#: file when loop=complete
"""The features of this project."""

#: slot tests
#: end file

import torch
from safetensors.torch import load_file
from torch import nn

import train
from helpers import SETTINGS, run
from model import build_model
from optimizers import Lion, MuonWithAdamW, find_hidden_matrices

#: slot tests when optimizer=lion
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

#: slot tests when optimizer=muon
def test_muon_gets_hidden_matrices_and_adamw_the_rest():
    model = build_model(train.Config(**SETTINGS))
    optimizer = MuonWithAdamW(model, lr=0.1, weight_decay=0.5)
    hidden, others = (group["params"] for group in optimizer.param_groups)
    assert {id(weight) for weight in (*hidden, *others)} == set(map(id, model.parameters()))
    assert len(hidden) + len(others) == len(list(model.parameters()))
    assert all(weight.ndim == 2 for weight in hidden)
    tables = [part.weight for part in model.modules() if isinstance(part, nn.Embedding)]
    assert tables and not {id(weight) for weight in tables} & {id(weight) for weight in hidden}


def test_muon_makes_the_update_of_a_matrix_orthogonal():
    """As large as an update of AdamW: all singular values are 0.2 times the root of its size."""
    model = nn.Sequential(nn.ModuleList([nn.Linear(8, 8)]))
    [weight], before = find_hidden_matrices(model), model[0][0].weight.detach().clone()
    optimizer = MuonWithAdamW(model, lr=0.1, weight_decay=0.0)
    weight.grad = torch.randn(8, 8)
    optimizer.step()
    sizes = torch.linalg.svdvals((weight.detach() - before) / 0.1)
    torch.testing.assert_close(sizes, torch.full((8,), 0.2 * 8**0.5), rtol=0.5, atol=0)
    assert len(optimizer.state) == 1, "only this weight has a gradient"

#: slot tests when optimizer=schedule_free
def test_averaged_weights_are_evaluated_and_kept(tmp_path, monkeypatch):
    build, built, trained, evaluated = train.build_model, [], [], []
    evaluate, end_epoch = train.evaluate, train.RunningLoss.end_epoch

    def build_and_note(config) -> nn.Module:
        built.append(build(config))
        return built[0]

    def copy_weights() -> dict[str, torch.Tensor]:
        return {name: weight.clone() for name, weight in built[0].state_dict().items()}

    def evaluate_and_note(*arguments) -> dict[str, float]:
        evaluated.append(copy_weights())
        return evaluate(*arguments)

    def end_epoch_and_note(train_loss) -> float:
        trained.append(copy_weights())
        return end_epoch(train_loss)

    monkeypatch.setattr(train, "build_model", build_and_note)
    monkeypatch.setattr(train, "evaluate", evaluate_and_note)
    monkeypatch.setattr(train.RunningLoss, "end_epoch", end_epoch_and_note)
    run(tmp_path, epochs=1)
    same = [torch.equal(weight, evaluated[0][name]) for name, weight in trained[0].items()]
    assert not all(same), "evaluate the averaged weights, not the trained ones"
    for name, kept in load_file(tmp_path / "model.safetensors").items():
        torch.testing.assert_close(kept, evaluated[0][name], msg=f"{name}: save the averages")
