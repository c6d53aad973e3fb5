"""Training lowers the loss, in training mode, with one optimizer step at a time."""

import torch
from torch import nn
from torch.utils.data import Subset

import data
import train
from helpers import SETTINGS, column, run


def test_loss_falls(tmp_path, monkeypatch):
    """On one batch, which a model memorizes with any learning rate."""
    build, evaluate, losses = getattr(data, "build_datasets", None), train.evaluate, []

    def build_one_batch(config):
        train_set = build(config)[0]
        count = min(len(train_set), SETTINGS["batch_size"])
        return [Subset(train_set, list(range(count)))] * 3

    def evaluate_and_note(*arguments):
        metrics = evaluate(*arguments)
        losses.extend(value for name, value in metrics.items() if name == "val_loss")
        return metrics

    monkeypatch.setattr(data, "build_datasets", build_one_batch, raising=False)
    monkeypatch.setattr(train, "evaluate", evaluate_and_note)
    run(tmp_path, epochs=10)
    assert losses[-1] < losses[0], f"training does not lower the loss: {losses}"


def test_each_epoch_has_its_own_order(tmp_path, monkeypatch):
    build_model, inputs = train.build_model, []

    def build_and_watch(config) -> nn.Module:
        model = build_model(config)
        model.register_forward_pre_hook(note_inputs, with_kwargs=True)
        return model

    def note_inputs(module, args, kwargs) -> None:
        if torch.is_grad_enabled():
            inputs.append(next(iter([*args, *kwargs.values()])).clone())

    monkeypatch.setattr(train, "build_model", build_and_watch)
    run(tmp_path)
    half = len(inputs) // 2
    same = [torch.equal(*pair) for pair in zip(inputs[:half], inputs[half:], strict=True)]
    assert same and not all(same), "call train_loader.set_epoch(epoch): the order repeats"


def test_steps_and_modes(tmp_path, monkeypatch, capsys):
    """Steps are counted, gradients are cleared, and dropout is on only in training."""
    build_model, built, modes = train.build_model, [], set()

    def build_and_watch(config) -> nn.Module:
        model = build_model(config)
        model.register_forward_pre_hook(
            lambda module, _: modes.add((torch.is_grad_enabled(), module.training))
        )
        built.append(model)
        return model

    monkeypatch.setattr(train, "build_model", build_and_watch)
    run(tmp_path, max_steps=7)
    assert len(column(capsys.readouterr().out, "loss")) == 7, "max_steps counts optimizer steps"
    gradients = [weight.grad for weight in built[0].parameters() if weight.grad is not None]
    assert not any(gradient.any() for gradient in gradients), "call optimizer.zero_grad()"
    assert (True, False) not in modes, "call model.train() before each epoch and after evaluating"
    assert (False, True) not in modes, "call model.eval() before evaluating"
    assert modes == {(True, True), (False, False)}
