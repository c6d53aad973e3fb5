"""Files as a user has them: images, sounds, tables and texts."""

import csv
import json
import math
import re
import shutil
import struct
import wave
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random

from scaffold.answers.catalog import Value
from support.rendering import write_project
from support.training import clean_environment, run


def paint(folder: Path, names: list[str], number: int) -> None:
    """Noisy images, each class in a colour of its own."""
    from PIL import Image

    draw = Random(0)
    for label, name in enumerate(names):
        (folder / name).mkdir(parents=True)
        for index in range(number):
            image = Image.new("RGB", (40, 30))
            colour = [255 if channel == label else 0 for channel in range(3)]
            noisy = [tuple(abs(c - draw.randint(0, 99)) for c in colour) for _ in range(1200)]
            image.putdata(noisy)
            image.save(folder / name / f"{index}.png")


def make_image_project(task: str, folder: Path, given: Mapping[str, Value]) -> Path:
    """A project, and a folder with noisy images in red and in blue."""
    write_project(folder, task, **given)
    paint(folder / "marks", ["red", "blue"], 20)
    return folder


def paint_digits(folder: Path, number: int) -> None:
    """Handwritten digits, each in the colour of its class, of several sizes and kinds."""
    from PIL import Image, ImageOps
    from sklearn.datasets import load_digits

    digits = load_digits()
    pairs = zip(digits.images[:number], digits.target[:number], strict=True)
    for index, (pixels, label) in enumerate(pairs):
        grey = Image.fromarray((pixels * 255 / 16).astype("uint8"))
        image = ImageOps.colorize(grey, "black", f"hsl({36 * label}, 100%, 50%)")
        image = image.resize((24 + index % 9, 24 + index % 5)).convert(("RGB", "RGBA")[index % 2])
        part = folder / str(index % 3)  # subfolders that are no classes
        part.mkdir(parents=True, exist_ok=True)
        image.save(part / f"{index}.png")


def write_rows(path: Path, rows: Iterable[Sequence[object]]) -> None:
    """A table: with tabs if its name ends in .tsv."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",").writerows(rows)


WORDS = ["river", "stone", "cloud", "grass", "bread", "glass"]
WORDS += ["naïve", 'a "quoted" word', "two\nlines"]


def write_texts(path: Path, rows: int) -> None:
    """Pairs of texts, whose class follows from the colours that they end with."""
    draw, lines = Random(0), list[list[object]]()
    for number in range(rows):
        kind = draw.choice(["warm", "cold"])
        colours = ["red", "orange"] if kind == "warm" else ["blue", "green"]
        texts = [" ".join([*draw.choices(WORDS, k=draw.randint(1, 9)), one]) for one in colours]
        lines.append([number, *texts, kind])
    write_rows(path, [["id", "first", "second", "kind"], *lines])


def make_table():
    """Rows whose classes and numbers follow from two columns, one of numbers and one of text."""
    import pandas as pd

    draw = Random(0)
    sizes = [draw.uniform(1000, 5000) for _ in range(400)]
    colours = [draw.choice(["red", "green", "blue"]) for _ in range(400)]
    weights = {"red": 0.0, "green": 1500.0, "blue": 3000.0}
    numbers = [size + weights[colour] for size, colour in zip(sizes, colours, strict=True)]
    table = {"size": sizes, "constant": 7, "flag": [size > 2000 for size in sizes]}
    table |= {"colour": colours, "number": numbers}
    return pd.DataFrame({**table, "kind": ["large" if n > 4500 else "small" for n in numbers]})


def write_table(table, path: Path) -> None:
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.astype({"colour": "category"}).to_parquet(path)


ENVIRONMENT = {**clean_environment(), "PYTHONDONTWRITEBYTECODE": "1"}


def write_idx(path: Path, values) -> None:  # type: ignore[no-untyped-def]
    """Bytes in the format that http://yann.lecun.com/exdb/mnist describes."""
    head = struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape)
    path.write_bytes(head + values.tobytes())


def make_mnist(folder: Path, train: int = 600, test: int = 100) -> None:
    """The files of MNIST with so many images, which are scikit-learn's digits, moved about."""
    import numpy as np
    from sklearn.datasets import load_digits

    digits, draw = load_digits(), np.random.default_rng(0)
    large = np.pad(digits.images.repeat(3, 1).repeat(3, 2) * 255 / 16, [(0, 0), (2, 2), (2, 2)])
    folder.mkdir(parents=True)
    for part, size in (("train", train), ("t10k", test)):
        picked, shifts = draw.integers(0, len(large), size), draw.integers(-2, 3, (size, 2))
        images = [np.roll(large[n], move, (0, 1)) for n, move in zip(picked, shifts, strict=True)]
        write_idx(folder / f"{part}-images-idx3-ubyte", np.array(images, np.uint8))
        write_idx(folder / f"{part}-labels-idx1-ubyte", digits.target[picked].astype(np.uint8))


def write_measurements(name: str) -> Callable[[Path], list[str]]:
    def write(folder: Path) -> list[str]:
        from sklearn import datasets

        table = getattr(datasets, f"load_{name}")(as_frame=True).data.head(3)
        shuffled = table[[*reversed(table.columns)]].assign(other="text")
        shuffled.to_csv(folder / "rows.csv", index=False)
        return ["rows.csv"]

    return write


def write_lines(folder: Path) -> list[str]:
    (folder / "texts.txt").write_text("import socket\n\nnaïve\n", encoding="utf-8")
    return ["texts.txt"]


def write_histories(folder: Path) -> list[str]:
    """Two series of 100 hours, and one of 120."""
    rows = [
        f"2026-01-{1 + hour // 24:02} {hour % 24:02}:00,{hour % 24},{name}"
        for name, hours in (("a", 100), ("b", 120), ("c", 100))
        for hour in range(hours)
    ]
    (folder / "histories.csv").write_text("\n".join(["time,value,series", *rows]))
    return ["histories.csv"]


def write_numbers(folder: Path) -> list[str]:
    (folder / "numbers.txt").write_text("1,2,3,4\n0.1,0.2,0.3,0.4\n0,0,0,0\n")
    return ["numbers.txt"]


def write_conversations(folder: Path) -> list[str]:
    chat = [{"role": "user", "content": "sort cab"}, {"role": "assistant", "content": "abc"}]
    rows = [{"messages": chat}, {"prompt": "sort cab", "chosen": "abc", "rejected": "acb"}]
    (folder / "conversations.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    return ["conversations.jsonl"]


def write_sound(path: Path, samples: int = 8000, rate: int = 22050, hertz: float = 500) -> None:
    """A tone in a WAV file of two channels."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tone = [int(20000 * math.sin(2 * math.pi * hertz * step / rate)) for step in range(samples)]
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, rate, 0, "NONE", ""))
        file.writeframes(b"".join(2 * step.to_bytes(2, "little", signed=True) for step in tone))


def prepare_inputs(task: str, folder: Path) -> None:
    """The files that the commands name."""
    paint_digits(folder / "folder", 2)
    shutil.copy(folder / "folder/0/0.png", folder / "image.png")
    write_lines(folder)
    write_numbers(folder)
    write_conversations(folder)
    write_sound(folder / "sound.wav")
    write_sound(folder / "sounds/low.wav")
    write_histories(folder)
    if task.startswith("tabular"):
        name = {"tabular_classification": "breast_cancer", "tabular_regression": "diabetes"}[task]
        write_measurements(name)(folder)


def use_card(shared: Path, task: str) -> dict[str, str]:
    """What the commands and the Python in a card print, with the inputs that they name."""
    prepare_inputs(task, shared)
    card = (shared / "README.md").read_text()
    found = {}
    for language, block in re.findall("```(sh|python)\n(.*?)```", card, re.DOTALL):
        arguments = ["-c", block.replace("USER/NAME", ".")]
        if language == "sh":
            [command] = re.findall("^python (.*)", block, re.MULTILINE)
            arguments = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', command)]
        found[language] = run(shared, *arguments)
        assert found[language], block
    return found
