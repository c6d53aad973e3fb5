import pytest
import torch
import train
from accelerate import Accelerator, DataLoaderConfiguration, PartialState
from accelerate.utils import set_seed
from checkpoint import Progress, find_checkpoints, remaining_batches
from data import build_loaders
from distance import Moments, frechet_distance
from losses import loss_of_discriminator, loss_of_generator
from model import Generator, build_discriminator
from safetensors.torch import load_file
from torch import nn

#: replace loss_falls
def test_distance_falls(tmp_path, capsys):
    run(tmp_path, epochs=4, limit_batches=40)
    found = capsys.readouterr().out.split("val_distance ")[1:]
    distances = [float(text.split()[0]) for text in found]
    message = f"training does not bring what is generated closer to the data: {distances}"
    assert distances[-1] < distances[0], message

#: slot after_resume
pictures = sorted(path.name for path in whole.parent.glob("samples_*.png"))
assert pictures, "there is one for each evaluation"
assert_same_files(whole.parent, resumed.parent, pictures)

#: slot exact_model
if isinstance(module, Generator):
    module.register_forward_pre_hook(share_noise)

#: slot tests
def share_noise(generator: nn.Module, inputs: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
    """In training, give the processes together the noise that one with twice the batch has."""
    (noise,) = inputs
    if generator.training:
        table = torch.randn(64, noise.shape[1], generator=torch.Generator().manual_seed(0))
        first = PartialState().process_index * len(noise)
        noise = table[first : first + len(noise)]
    return (noise,)


def test_distance_of_known_moments():
    """Of one pixel with means 0 and 3 and standard deviations 1 and 2: (3 - 0)² + (2 - 1)²."""
    one, other = Moments(), Moments()
    for value in (-1.0, 1.0):  # moments of several batches add up
        one.add(torch.full((1, 1, 1, 1), value))
        other.add(torch.full((1, 1, 1, 1), 3 + 2 * value))
    assert frechet_distance(one, other) == pytest.approx(10.0)
    assert frechet_distance(one, one) == pytest.approx(0.0, abs=1e-9)


def test_each_model_learns_from_its_own_loss(tmp_path):
    """The first update, and one by hand: no loss changes the model that it is a constant to."""
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        start = run(tmp_path / "start", max_steps=1, learning_rate=0.0)
        end = run(tmp_path / "end", max_steps=1, learning_rate=0.1)
    rate = torch.load(end / "optimizer.bin")["param_groups"][0]["lr"]
    config = train.Config(**SETTINGS)
    generator, discriminator = build_exact_model(config), build_discriminator(config)
    generator.load_state_dict(load_file(start / "model.safetensors"))
    discriminator.load_state_dict(load_file(start / "model_1.safetensors"))
    accelerator = Accelerator(
        dataloader_config=DataLoaderConfiguration(use_seedable_sampler=True, data_seed=0)
    )
    set_seed(0)
    loader = accelerator.prepare(build_loaders(config)[0])
    images, _ = next(iter(remaining_batches(accelerator, loader, Progress(), 1)))

    fakes = generator(torch.zeros(len(images), generator.latent))
    step(discriminator, loss_of_discriminator(discriminator, images, fakes.detach()), rate)
    step(generator, loss_of_generator(discriminator, fakes), rate)
    for name, model in (("model", generator), ("model_1", discriminator)):
        for key, expected in load_file(end / f"{name}.safetensors").items():
            message = f"{name}, {key}: each model learns from its own loss alone"
            torch.testing.assert_close(
                model.state_dict()[key], expected, rtol=0, atol=1e-6, msg=message
            )


def step(model: nn.Module, loss: torch.Tensor, rate: float) -> None:
    """A step down the gradient of one model."""
    weights = list(model.parameters())
    gradients = torch.autograd.grad(loss, weights, retain_graph=True)
    with torch.no_grad():
        torch._foreach_sub_(weights, torch._foreach_mul(gradients, rate))
