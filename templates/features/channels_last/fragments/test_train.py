import torch
import train

#: slot tests
def test_filters_have_their_channels_last(tmp_path, monkeypatch):
    """They must keep it through prepare() and updates."""

    def look(checkpoints) -> None:
        weights = checkpoints.accelerator._models[0].parameters()
        filters = [weight for weight in weights if weight.ndim == 4]
        last = [weight.is_contiguous(memory_format=torch.channels_last) for weight in filters]
        assert all(last), "the filters have their channels first"

    monkeypatch.setattr(train.Checkpoints, "after_update", look)
    run(tmp_path, epochs=1, max_steps=2)
