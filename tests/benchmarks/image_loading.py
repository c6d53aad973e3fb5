"""Images per second from a folder of JPEGs: a project's training loader, timm's and torchvision's.

`run.py images` draws the files, renders a project with `image_folder`, and keeps the median of the
rounds in which all take turns. Each gives batches of 32 images of
224 x 224 pixels, normalised for a pretrained model, on the CPU, from as many workers.

- `scaffold`: what build_loaders() of data.py returns, with the augmentation `photo` (a random part,
  mirrored, other colours). The model normalises, so that is done here, too.
- `timm`: `create_loader` with the defaults of its train.py (the same changes).
- `torchvision`: the preset of its references/classification in a DataLoader, as its train.py makes
  them, with the ColorJitter of the project.
- `without colours`: that preset as it is (a random part, mirrored), and a project whose owner has
  removed the line with ColorJitter.

The tests' support/torchvision_cpu must be on PYTHONPATH if torch is one for the CPU.
"""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from unittest import mock

os.environ |= {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}

BATCH, COUNT, SIZE, WORKERS = 32, 960, 224, 2
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def paint(folder: Path, count: int) -> None:
    """JPEGs with the details of a photo, in two classes: soft shapes with some noise."""
    from PIL import Image, ImageChops

    draw = random.Random(0)
    for number in range(count):
        small = Image.frombytes("RGB", (24, 18), draw.randbytes(24 * 18 * 3))
        soft = small.resize((500, 375), Image.Resampling.BICUBIC)
        grain = Image.effect_noise((500, 375), 16).convert("RGB")
        path = folder / "ab"[number % 2] / f"{number:05}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        ImageChops.add(soft, grain, scale=2).save(path, quality=90)


def scaffold_loader(project: Path, images: Path, colours: bool) -> Callable[[], Iterable]:
    """The training loader of a rendered project, and what its model does first."""
    sys.path.insert(0, str(project))
    import data  # that of the project
    import torch
    from torchvision.transforms import v2
    from train import Config

    change = data.build_change

    def build_change(config):
        steps = change(config).transforms
        kept = [step for step in steps if colours or not isinstance(step, v2.ColorJitter)]
        return v2.Compose(kept)

    settings = {"path": str(images), "image_size": SIZE, "num_workers": WORKERS}
    with mock.patch.object(data, "build_change", build_change):
        loader = data.build_loaders(Config(**settings, batch_size=BATCH))[0]
    mean, std = (torch.tensor(values).reshape(3, 1, 1) for values in (MEAN, STD))
    # as the first line of its model
    return lambda: (batch.float().sub_(255 * mean).div_(255 * std) for batch, _ in loader)


def timm_loader(images: Path) -> Callable[[], Iterable]:
    import torch
    from timm.data import ImageDataset, create_loader

    loader = create_loader(
        ImageDataset(str(images)),
        (3, SIZE, SIZE),
        BATCH,
        is_training=True,
        num_workers=WORKERS,
        device=torch.device("cpu"),
        persistent_workers=False,  # as with the others, so that all start them in each round
    )
    return lambda: (batch for batch, _ in loader)


def torchvision_loader(images: Path, colours: bool) -> Callable[[], Iterable]:
    import torch
    from torch.utils.data import DataLoader
    from torchvision import transforms
    from torchvision.datasets import ImageFolder

    jitter = transforms.ColorJitter(brightness=0.3, contrast=0.3, saturation=0.3)
    change = transforms.Compose(
        [
            transforms.RandomResizedCrop(SIZE),
            transforms.RandomHorizontalFlip(),
            *([jitter] if colours else []),
            transforms.PILToTensor(),
            transforms.ConvertImageDtype(torch.float),
            transforms.Normalize(MEAN, STD),
        ]
    )
    data = ImageFolder(str(images), change)
    loader = DataLoader(data, BATCH, shuffle=True, num_workers=WORKERS, drop_last=True)
    return lambda: (batch for batch, _ in loader)


@dataclass
class Times:
    wall: list[float] = field(default_factory=list)  # seconds of a round
    processor: list[float] = field(default_factory=list)  # those of all its processes


def measure(contenders: dict[str, Callable[[], Iterable]], rounds: int) -> dict:
    """Seconds for an image. All take turns in each round."""
    found = {name: Times() for name in contenders}
    for turn in range(rounds + 1):  # the first one reads the files into memory
        for name, batches in contenders.items():
            before, used, images = time.perf_counter(), processor_seconds(), 0
            for batch in batches():
                assert batch.shape[1:] == (3, SIZE, SIZE) and batch.min() < -0.5
                images += len(batch)
            if turn:
                found[name].wall.append((time.perf_counter() - before) / images)
                found[name].processor.append((processor_seconds() - used) / images)
    return found


def processor_seconds() -> float:
    """Those that this process has used, and its workers that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def summarize(found: dict[str, Times]) -> dict[str, dict[str, float]]:
    """For each loader: its speed, and how many times as fast ours is, of the same changes."""
    rows = {}
    for name, times in found.items():
        end = ", without colours" if name.endswith("without colours") else ""
        ours = found[f"scaffold{end}"]
        wall, processor = (
            median(other / own for other, own in zip(theirs, mine, strict=True))
            for theirs, mine in ((times.wall, ours.wall), (times.processor, ours.processor))
        )
        rows[name] = {
            "images_per_second": round(1 / median(times.wall)),
            "processor_ms": round(1000 * median(times.processor), 2),
            "scaffold": round(wall, 2),
            "scaffold_processor": round(processor, 2),
        }
    return rows


def measure_images(scratch: Path, rounds: int) -> dict[str, dict[str, float]]:
    """The speeds of all loaders on files that are drawn in a folder."""
    images, project = scratch / "images", scratch / "project"
    folder = images / "train"
    for part, count in (("train", COUNT), ("val", 2), ("test", 2)):
        paint(images / part, count)
    options = [
        "--set=image_classification.dataset=image_folder",
        "--set=image_classification.model=timm",
        "--set=features.augmentation.kind=photo",
    ]
    command = [sys.executable, "-m", "scaffold", "new", str(project), "--yes", *options]
    subprocess.run(command, check=True, capture_output=True)
    import torch

    torch.set_num_threads(1)
    loaders = {
        "scaffold": scaffold_loader(project, images, colours=True),
        "timm": timm_loader(folder),
        "torchvision": torchvision_loader(folder, colours=True),
        "scaffold, without colours": scaffold_loader(project, images, colours=False),
        "torchvision, without colours": torchvision_loader(folder, colours=False),
    }
    return summarize(measure(loaders, rounds))
