from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

#: replace parts
parts = split_by_image(read_rows(config.path, config), [1 - sum(shares), *shares])

#: replace checked
check = partial(check_pair, columns, Path(path).parent)
with ThreadPoolExecutor() as pool:  # threads can decode images at the same time
    rows = list(pool.map(check, found))

#: slot check_row
def check_pair(columns: list[str], folder: Path, placed: tuple[str, dict]) -> Row:
    """The image of a row, relative to this folder, and its text, after checking both."""
    place, row = placed
    name, text = check_row(row, columns, place)
    if problem := look_at(folder / name):
        raise SystemExit(f"{place}: {folder / name} can't be read as an image: {problem}")
    return folder / name, text


@cache
def look_at(path: Path) -> str:
    """Why an image can't be read, or nothing. One with several texts is read once."""
    return find_problem(path)
