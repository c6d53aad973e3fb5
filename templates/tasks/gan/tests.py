from pathlib import Path
from unittest import mock

import pytest
import torch
from accelerate import PartialState
from torch import nn

import data
import train
from distance import Moments, frechet_distance
from helpers import SETTINGS, build_exact_model, build_sgd, run
from losses import compute_discriminator_loss, compute_generator_loss
from model import Generator, build_discriminator, build_model

#: into tests/helpers.py
#: slot exact_model
if isinstance(module, Generator):
    module.register_forward_pre_hook(share_noise)

#: slot functions
def share_noise(generator: nn.Module, inputs: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
    """In training, several processes share the noise of one process with a larger batch."""
    (noise,) = inputs
    if generator.training:
        table = torch.randn(64, noise.shape[1], generator=torch.Generator().manual_seed(0))
        first = PartialState().process_index * len(noise)
        noise = table[first : first + len(noise)]
    return (noise,)

#: into tests/test_app.py
#: slot values
values = [3]

#: slot expected
assert shown.width > 2 * shown.height, "three images next to each other"

#: into tests/test_features.py
#: slot tests
def test_each_model_learns_from_its_own_loss(tmp_path, monkeypatch):
    """The first step, and the same by hand: no loss changes the other model."""
    start, images, _ = first_step(tmp_path / "start", monkeypatch, learning_rate=1e-12)
    end, _, rate = first_step(tmp_path / "end", monkeypatch, learning_rate=0.1)
    generator, discriminator = (model.requires_grad_(True) for model in start)
    fakes = generator(torch.zeros(len(images), generator.latent))
    loss = compute_discriminator_loss(discriminator, images, fakes.detach())
    take_step(discriminator, loss, rate)
    take_step(generator, compute_generator_loss(discriminator, fakes), rate)
    for model, trained in zip(start, end, strict=True):
        for key, expected in trained.state_dict().items():
            message = f"{type(model).__name__}, {key}: each model learns only from its own loss"
            torch.testing.assert_close(
                model.state_dict()[key], expected, rtol=0, atol=1e-6, msg=message
            )


def first_step(folder: Path, monkeypatch, learning_rate: float) -> tuple[list, torch.Tensor, float]:
    """Train one step. Returns both models, the images, and the rate of the step."""
    models, seen, rates = [], [], []

    def build_and_note(model, config):
        optimizer = build_sgd(model, config)
        optimizer.register_step_pre_hook(lambda *_: rates.append(optimizer.param_groups[0]["lr"]))
        models.append(model)
        return optimizer

    def compute_and_note(discriminator, images, fakes):
        seen.append(images)
        return compute_discriminator_loss(discriminator, images, fakes)

    with monkeypatch.context() as patch:
        patch.setattr(train, "build_model", build_exact_model)
        patch.setattr(train, "build_optimizer", build_and_note)
        patch.setattr(train, "compute_discriminator_loss", compute_and_note)
        run(folder, max_steps=1, learning_rate=learning_rate)
    return models, seen[0], rates[0]


def take_step(model: nn.Module, loss: torch.Tensor, rate: float) -> None:
    """A step down the gradient of one model."""
    weights = list(model.parameters())
    gradients = torch.autograd.grad(loss, weights, retain_graph=True)
    with torch.no_grad():
        torch._foreach_sub_(weights, torch._foreach_mul(gradients, rate))


def test_modes_and_gradients_of_the_discriminator(tmp_path, monkeypatch):
    """It trains in training mode, even if it starts in evaluation mode."""
    build, built, modes = train.build_discriminator, [], set()

    def build_and_watch(config) -> nn.Module:
        built.append(build(config).eval())
        built[0].register_forward_pre_hook(lambda module, _: modes.add(module.training))
        return built[0]

    monkeypatch.setattr(train, "build_discriminator", build_and_watch)
    run(tmp_path, epochs=1, max_steps=3)
    assert modes == {True}, "call discriminator.train() before each epoch"
    gradients = [weight.grad for weight in built[0].parameters() if weight.grad is not None]
    assert not any(gradient.any() for gradient in gradients), "clear the discriminator's gradients"

#: slot tests when dataset=image_folder
@pytest.mark.parametrize("size", [8, 12, 50, 64])
def test_both_models_fit_the_size(size):
    config = train.Config(**{**SETTINGS, "image_size": size})
    images = build_model(config)(torch.randn(2, config.latent))
    assert images.shape == (2, 3, size, size)
    assert build_discriminator(config)(images).shape == (2,)

#: replace clipping with clipping
with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_step):
    run(folder, epochs=1, max_steps=1, learning_rate=rate, **limit)

#: slot tests with clipping
def build_step(model: nn.Module, config: train.Config) -> torch.optim.Optimizer:
    """SGD that only steps the generator: its gradient depends on the discriminator's steps."""
    optimizer = build_sgd(model, config)
    if not isinstance(model, Generator):
        optimizer.step = lambda closure=None: None
    return optimizer

#: into tests/test_predict.py
#: slot metric
real, generated = Moments(), Moments()
for batch in read_batches(config):
    #: region images
    images = batch[0]
    #: end images
    numbers = range(real.count, real.count + len(images))
    real.add(images)
    rows = predict.predict(config, model, list(numbers))
    generated.add(torch.stack([row["image"] for row in rows]))
assert frechet_distance(real, generated) == pytest.approx(reported["test_distance"], rel=1e-6)

#: slot five
rows = predict.predict(config, model, list(range(5)))
rows = [{"number": row["number"], "mean": float(row["image"].mean())} for row in rows]

#: replace images when dataset=image_folder
images = batch

#: into tests/test_training.py
#: slot loss_falls
def test_distance_falls(tmp_path, capsys):
    #: region falls
    run(tmp_path, epochs=4, limit_batches=40)
    #: end falls
    found = capsys.readouterr().out.split("val_distance ")[1:]
    distances = [float(text.split()[0]) for text in found]
    message = f"training does not bring generated images closer to the data: {distances}"
    assert distances[-1] < distances[0], message

#: replace falls when dataset=image_folder
# dark images in place of yours, which may be few or hard to learn
dark = 0.2 * torch.rand(640, 3, 16, 16, generator=torch.Generator().manual_seed(0))
with mock.patch.object(data, "build_datasets", lambda config: [dark] * 3):
    run(tmp_path, epochs=4, limit_batches=40)
