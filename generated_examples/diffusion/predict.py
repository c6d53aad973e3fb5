"""Predicts with the weights of a run: `python predict.py 16 --output generated`."""

import argparse
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import gather_object
from PIL import Image
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch.utils.data import DataLoader

from config import Config, check_environment, load_config, newest_run
from data import image_shape
from diffusion import LEVELS, SAMPLING_STEPS, fixed_noise, sample
from model import build_model


def load(folder=None, device=None) -> tuple[Config, torch.nn.Module]:
    """The settings of a run, by default the newest, and its trained model in evaluation mode."""
    check_environment(Accelerator())
    config = load_config(Path(folder or newest_run()))
    model = build_model(config)
    weights = config.output_dir / "model.safetensors"
    try:
        load_model(model, weights)
    except (OSError, RuntimeError, SafetensorError) as error:
        raise SystemExit(f"{weights} can't be loaded: {error}") from error
    return config, model.to(device or PartialState().device).eval()


def write(rows: list[dict], folder: Path) -> None:
    """Write the generated images to 00000.png, 00001.png and so on."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"Can't write to {folder}: {error}") from error
    for row in rows:
        path = folder / f"{row['number']:05}.png"
        pixels = (255 * row["image"]).round().byte().permute(1, 2, 0).squeeze(2)
        Image.fromarray(pixels.numpy()).save(path)
    print(f"{len(rows)} images are in {folder}.")


def predict(
    config: Config, model: torch.nn.Module, inputs, steps: int = SAMPLING_STEPS
) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        for numbers in DataLoader(share, 4 * config.batch_size, collate_fn=list):
            noise = fixed_noise(numbers, image_shape(config)).to(device)
            images = sample(model, noise, steps).cpu()
            rows += [
                {"number": n, "image": image} for n, image in zip(numbers, images, strict=True)
            ]
    return gather_object(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, metavar="COUNT", help="how many images to generate")
    parser.add_argument("--output", type=Path, default=Path("generated"), help="output folder")
    parser.add_argument(
        "--steps", type=int, default=SAMPLING_STEPS, help="sampling steps per image"
    )
    parser.add_argument("--run", help="the folder of a run; default: the newest")
    arguments = parser.parse_args()
    config, model = load(arguments.run)
    if arguments.count < 1 or not 1 <= arguments.steps <= LEVELS:
        raise SystemExit(f"COUNT is 1 or more, and --steps is from 1 to {LEVELS}.")
    inputs = list(range(arguments.count))
    rows = predict(config, model, inputs, arguments.steps)
    if PartialState().is_main_process:
        write(rows, arguments.output)
    PartialState().destroy_process_group()
