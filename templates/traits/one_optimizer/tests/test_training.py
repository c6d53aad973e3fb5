from torch.utils.data import Subset

import data
import train
from helpers import SETTINGS, run

#: slot loss_falls
def test_loss_falls(tmp_path, monkeypatch):
    """On one batch, which a model memorizes with any learning rate."""
    build, evaluate, losses = getattr(data, "build_datasets", None), train.evaluate, []

    def build_one_batch(config):
        train_set = build(config)[0]
        count = min(len(train_set), SETTINGS["batch_size"])
        return [Subset(train_set, list(range(count)))] * 3

    def evaluate_and_note(*arguments):
        metrics = evaluate(*arguments)
        #: region noted
        losses.extend(value for name, value in metrics.items() if name == "val_loss")
        #: end noted
        return metrics

    monkeypatch.setattr(data, "build_datasets", build_one_batch, raising=False)
    monkeypatch.setattr(train, "evaluate", evaluate_and_note)
    #: slot one_batch
    #: region falls
    run(tmp_path, epochs=10)
    #: end falls
    assert losses[-1] < losses[0], f"training does not lower the loss: {losses}"
