import torch
import train
from safetensors.torch import load_file

#: slot tests
def test_averaged_weights_are_evaluated_and_kept(tmp_path, monkeypatch):
    evaluated = []
    evaluate = train.evaluate

    def look(model, *arguments):
        evaluated.append({name: weight.clone() for name, weight in model.state_dict().items()})
        return evaluate(model, *arguments)

    monkeypatch.setattr(train, "evaluate", look)
    last = run(tmp_path, epochs=1)
    learning = load_file(last / "model.safetensors")
    same = [torch.equal(weight, evaluated[0][name]) for name, weight in learning.items()]
    assert not all(same), "the weights that learn were evaluated, not their averages"
    for name, kept in load_file(tmp_path / "model.safetensors").items():
        message = f"{name}: the weights that are kept are not the averages"
        torch.testing.assert_close(kept, evaluated[0][name], msg=message)
