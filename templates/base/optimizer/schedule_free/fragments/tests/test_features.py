import torch
import train
from helpers import run
from safetensors.torch import load_file
from torch import nn

#: slot tests
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
