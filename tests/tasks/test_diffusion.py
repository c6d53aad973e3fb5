"""Diffusion: a user's folder of images, classes, and what diffusers computes."""

import shutil
from functools import partial
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from support.bad_files import refuse_flags, refuse_paths
from support.inputs import make_image_project, paint
from support.rendering import of_task, write_project
from support.training import count_passed, fail, run, run_tests

pytestmark = pytest.mark.train

TASK = "diffusion"
FOLDER = of_task(TASK, dataset="image_folder", path="marks", image_size=8)
FOLDER["training.num_workers"] = 0
SMALL: dict[str, Value] = {f"{TASK}.width": 8, f"{TASK}.levels": 2}
CLASSES: dict[str, Value] = {f"{TASK}.condition": "classes", f"{TASK}.classes": 2}
make_project = partial(make_image_project, TASK)
BRIEF = ["--epochs", "1", "--batch-size", "4"]


def test_a_users_folder_with_classes(tmp_path: Path) -> None:
    """It trains, predict.py generates the class that is named, and wrong folders are named."""
    project = make_project(tmp_path, {**FOLDER, **SMALL, **CLASSES})
    run(project, "train.py", *BRIEF)
    assert list(project.glob("runs/latest/samples_*.png"))
    run(project, "predict.py", "3", "--label", "1", "--steps", "2")
    assert len(list(project.glob("generated/*.png"))) == 3
    for name, folder in (("more", "more"), ("new", "new/test")):
        shutil.copytree(project / "marks", project / name)
        paint(project / folder, ["green"], 1)
    expected = {
        "more": "more has training images in 3 folders (blue, green, red), one for each class, and "
        "--classes is 2.",
        "new": "new/test/green/0.png has a class without training images: green.",
    }
    refuse_paths(project, expected)
    wrong = {
        ("3", "--label", "2"): "--label 2: the classes are 0 to 1.",
        ("3", "--steps", "0"): "COUNT is 1 or more, and --steps is from 1 to 1000.",
    }
    refuse_flags(project, wrong, "predict.py")


DIFFUSERS = """
import sys
import torch
import diffusion
from diffusers import DDIMScheduler, DDPMScheduler, FlowMatchEulerDiscreteScheduler
target, schedule = sys.argv[1:]
images, noise = torch.rand(2, 64, 3, 8, 8, generator=torch.Generator().manual_seed(0))
images = 2 * images - 1
def model(noisy, times, *others):
    return 0.3 * noisy + torch.sin(3 * noisy)
def agree(ours, theirs, tolerance=1e-6):
    torch.testing.assert_close(ours, theirs, rtol=0, atol=tolerance)
if target == "flow":
    scheduler = FlowMatchEulerDiscreteScheduler()
    times = scheduler.timesteps[torch.arange(64) * 15]
    agree(diffusion.add_noise(images, noise, times), scheduler.scale_noise(images, times, noise))
    agree(diffusion.find_targets(images, noise, times), noise - images)
    scheduler.set_timesteps(sigmas=[1 - step / 10 for step in range(10)])
else:
    kind = {"cosine": "squaredcos_cap_v2", "linear": "linear"}[schedule]
    settings = {"beta_schedule": kind, "beta_start": 1e-4, "beta_end": 0.02}
    scheduler = DDPMScheduler(**settings)
    times = torch.arange(64) * 15
    agree(diffusion.add_noise(images, noise, times), scheduler.add_noise(images, noise, times))
    velocity = scheduler.get_velocity(images, noise, times)
    expected = {"noise": noise, "v": velocity}[target]
    agree(diffusion.find_targets(images, noise, times), expected)
    prediction = {"noise": "epsilon", "v": "v_prediction"}[target]
    scheduler = DDIMScheduler(**settings, prediction_type=prediction, timestep_spacing="trailing")
    scheduler.set_timesteps(10)
noisy = noise
options = {} if target == "flow" else {"use_clipped_model_output": True}
for time in scheduler.timesteps:
    noisy = scheduler.step(model(noisy, time), time, noisy, **options).prev_sample
agree(diffusion.sample(model, noise, steps=10), (noisy.clamp(-1, 1) + 1) / 2, 1e-5)
print("agreed")
"""


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("target", "schedule"),
    [("noise", "cosine"), ("noise", "linear"), ("v", "cosine"), ("v", "linear"), ("flow", "")],
)
def test_noise_targets_and_steps_are_those_of_diffusers(
    target: str, schedule: str, tmp_path: Path
) -> None:
    pytest.importorskip("diffusers")
    more = {"noise_schedule": schedule} if schedule else {}
    write_project(tmp_path, TASK, target=target, **more)
    assert run(tmp_path, "-c", DIFFUSERS, target, schedule) == "agreed\n"


SAVE = """
from diffusers import UNet2DModel
UNet2DModel(
    in_channels=3, out_channels=3, block_out_channels=[8, 16], norm_num_groups=8,
    down_block_types=["DownBlock2D"] * 2, up_block_types=["UpBlock2D"] * 2,
).save_pretrained("small")
"""


@pytest.mark.sweep
def test_a_pretrained_model_is_trained_and_used(tmp_path: Path) -> None:
    pytest.importorskip("diffusers")
    given = of_task(TASK, model="pretrained", pretrained_name="small")
    project = make_project(tmp_path, {**FOLDER, **given})
    run(project, "-c", SAVE)
    run(project, "train.py", *BRIEF)
    run(project, "predict.py", "2", "--steps", "2", processes=2)
    assert len(list(project.glob("generated/*.png"))) == 2
    other = fail(project, "train.py", "--pretrained-name", "none", "--output-dir", "b")
    assert "The model 'none' can't be loaded" in other


@pytest.mark.sweep
@pytest.mark.parametrize(
    "given",
    [
        {f"{TASK}.target": "flow"},
        {f"{TASK}.target": "noise", f"{TASK}.noise_schedule": "linear", **FOLDER, **SMALL},
        {f"{TASK}.condition": "classes"},
        {f"{TASK}.model": "diffusers", f"{TASK}.condition": "classes", f"{TASK}.target": "flow"},
        {**FOLDER, **SMALL, **CLASSES, "features.augmentation.enabled": True},
    ],
    ids=str,
)
def test_the_choices_pass_the_tests_of_their_projects(
    given: dict[str, Value], tmp_path: Path
) -> None:
    assert count_passed(run_tests(make_project(tmp_path, given))) >= 28
