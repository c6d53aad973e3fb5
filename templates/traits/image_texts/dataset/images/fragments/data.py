from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

#: replace checked
check = partial(check_pair, columns, Path(path).parent)
with ThreadPoolExecutor() as pool:  # threads can decode images at the same time
    rows = list(pool.map(check, found))

#: slot check_row
def check_pair(columns: list[str], folder: Path, placed: tuple[str, dict]) -> Row:
    """The image of a row, which is in this folder or below, and the text, once both were read."""
    place, row = placed
    name, text = check_row(row, columns, place)
    if problem := find_problem(folder / name):
        raise SystemExit(f"{place}: {folder / name} can't be read as an image: {problem}")
    return folder / name, text


@cache
def find_problem(path: Path) -> str:
    """Why an image can't be read, or nothing."""
    try:
        with Image.open(path) as image:
            image.load()
    except (OSError, SyntaxError, ValueError) as error:
        return str(error)
    return ""

#: slot read_image
def read_image(path: Path, config) -> Tensor:
    """The square in the centre of an image, upright, as RGB, shape (3, size, size)."""
    with Image.open(path) as file:
        image = ImageOps.exif_transpose(file).convert("RGB")
    square = ImageOps.fit(image, (config.image_size, config.image_size))
    return torch.from_numpy(np.array(square)).permute(2, 0, 1) / 255
