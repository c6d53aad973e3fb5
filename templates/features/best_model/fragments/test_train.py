from unittest import mock

import torch
import train
from safetensors.torch import load_file

#: slot tests
def test_best_model_is_the_final_one(tmp_path):
    """The first of two epochs is the better one: its weights are tested and kept."""
    scores = iter([{{ "1.0, 0.0, 0.0" if task.higher_is_better else "0.0, 1.0, 1.0" }}])
    evaluated = []

    def evaluate(model, loader, accelerator, name, limit):
        weights = accelerator.unwrap_model(model).state_dict()
        evaluated.append({key: value.clone() for key, value in weights.items()})
        return dict.fromkeys([{{ task.metric | python }}, f"{name}_loss"], next(scores))

    with mock.patch.object(train, "evaluate", evaluate):
        run(tmp_path)
    final = load_file(tmp_path / "model.safetensors")
    for tested in (evaluated[2], final):
        best = [torch.equal(tested[name], evaluated[0][name]) for name in final]
        assert all(best), "the weights that are tested and kept are not those of the best epoch"
