"""Files of the owner that have the same name as a file that an update would create.

They are not the generated file with edits, so there is nothing to merge: the owner's file stays as
it is, and the generated one gets another name. From then on it counts as moved there, so later
updates find it, and find it again if its owner moves it over the other one.
"""

from collections.abc import Collection, Mapping
from pathlib import PurePosixPath

from scaffold.merge.source.style import take_ending
from scaffold.project.pristine import Pristine


def find_aside(
    pristine: Pristine, mine: Mapping[str, str], theirs: Mapping[str, str]
) -> dict[str, str]:
    """The paths of new files whose names are taken, by these names."""
    taken = {*mine, *theirs, *(pristine.place(name) for name in pristine.files)}
    found = {}
    for name, text in theirs.items():
        place = pristine.place(name)
        if name in pristine.files:
            continue
        is_other = place in mine and take_ending(mine[place])[0] != text
        if is_other or _package(place, mine):
            found[name] = _free_name(place, taken)
            taken.add(found[name])
    return found


def _package(name: str, mine: Collection[str]) -> bool:
    """Whether Python would import a package of the owner's instead of a module."""
    folder = name.removesuffix(".py")
    return folder != name and any(
        path.startswith(f"{folder}/") and path.endswith(".py") for path in mine
    )


def _free_name(name: str, taken: Collection[str]) -> str:
    """`mixing_new.py`, which can be imported, and `train.new.sbatch` or `Dockerfile.new`."""
    path = PurePosixPath(name)
    join = "_" if path.suffix == ".py" else "."
    names = (
        str(path.with_name(f"{path.stem}{join}new{number or ''}{path.suffix}"))
        for number in range(len(taken) + 1)
    )
    return next(name for name in names if name not in taken)


def is_aside(name: str, place: str) -> bool:
    """Whether a file has the place that `find_aside` gave it."""
    path = PurePosixPath(name)
    return PurePosixPath(place).name.startswith((f"{path.stem}_new", f"{path.stem}.new"))


def tell_aside(aside: Mapping[str, str], mine: Collection[str]) -> list[str]:
    """What an owner should do, a sentence for each file."""
    rows = []
    for name, place in aside.items():
        kind = "file" if name in mine else "package"
        row = f"{name}: is your own {kind} and stays. The generated one is {place}"
        if name.endswith(".py"):
            row += ", and generated code imports it by that name: keep both, or rename one of them."
        else:
            row += f": copy what you need from it, or use it instead: `mv {place} {name}`."
        rows.append(row)
    return rows
