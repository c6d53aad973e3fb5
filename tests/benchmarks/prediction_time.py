"""predict() beside a loop written by hand, for 10,000 digits in files: seconds of the processor.

`python tests/benchmarks/prediction_time.py` trains the default project for a moment, and prints the
median of both and their ratio. Both read the same files in batches of the same size, and return the
label and all probabilities of each.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

os.environ |= {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}

COUNT, ROUNDS = 10_000, 7


def paint(folder: Path) -> list[Path]:
    """The digits of scikit-learn, over and over, as PNG files."""
    from PIL import Image
    from sklearn.datasets import load_digits

    images = load_digits().images
    folder.mkdir()
    paths = [folder / f"{number:05}.png" for number in range(COUNT)]
    for number, path in enumerate(paths):
        pixels = images[number % len(images)] * 255 / 16
        Image.fromarray(pixels.round().astype("uint8")).save(path)
    return paths


def by_hand(model, paths: list[Path], size: int) -> list[list]:
    """What one writes without predict.py."""
    import numpy as np
    import torch
    from PIL import Image, ImageOps

    rows = []
    with torch.inference_mode():
        for start in range(0, len(paths), size):
            part = paths[start : start + size]
            pixels = [
                np.array(ImageOps.fit(Image.open(path).convert("L"), (8, 8))) for path in part
            ]
            images = torch.from_numpy(np.stack(pixels)).unsqueeze(1) / 255
            chances = model(images).softmax(dim=1)
            labels = chances.argmax(dim=1).tolist()
            for path, label, row in zip(part, labels, chances.tolist(), strict=True):
                rows.append([str(path), str(label), *row])
    return rows


def measure(calls: dict[str, Callable[[], list]]) -> dict[str, float]:
    """Seconds of the processor, the median of rounds in which all take turns."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            before = time.process_time()
            rows = call()
            seconds[name].append(time.process_time() - before)
            assert len(rows) == COUNT
    return {name: median(values) for name, values in seconds.items()}


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch, "project")
        subprocess.run([sys.executable, "-m", "scaffold", "new", project, "-y"], check=True)
        train = [sys.executable, "train.py", "--max-steps", "20"]
        subprocess.run(train, check=True, cwd=project)
        os.chdir(project)
        sys.path.insert(0, str(project))
        import predict  # that of the project
        import torch

        torch.set_num_threads(1)
        paths = paint(project / "digits")
        config, model = predict.load()
        size = 4 * config.batch_size
        ours = [row["label"] for row in predict.predict(config, model, paths)]
        assert ours == [row[1] for row in by_hand(model, paths, size)]
        found = measure(
            {
                "by hand": lambda: by_hand(model, paths, size),
                "predict": lambda: predict.predict(config, model, paths),
            }
        )
    print(f"{found}, ratio {found['predict'] / found['by hand']:.3f}")


if __name__ == "__main__":
    main()
