"""Writes a new project completely or not at all."""

import errno
import os
import secrets
import shutil
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from scaffold.errors import ScaffoldError

# a folder with only these counts as empty: a new repository
_NOTHING = {".DS_Store", ".git", ".hg", ".jj", ".svn"}


def check_target(folder: Path, names: Mapping[str, str], *, into: bool = False) -> None:
    """Raise ScaffoldError unless these files can be written to the folder without overwriting.

    With `into`, the folder may hold other files.
    """
    try:
        nearest = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
        if not nearest.is_dir():
            raise ScaffoldError(f"{nearest} is a file, not a folder: choose another path.")
        others = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        taken = [name for name in names if os.path.lexists(folder / name)]
        blocked = {
            parent.as_posix()
            for name in names
            for parent in Path(name).parents
            if os.path.lexists(folder / parent) and not (folder / parent).is_dir()
        }
    except OSError as error:
        raise ScaffoldError(f"{folder}: {error.strerror}.") from None
    if taken or blocked:
        listed = ", ".join(sorted({*taken, *blocked})[:5])
        raise ScaffoldError(
            f"{folder} already contains {listed}, and nothing is overwritten: choose another path."
        )
    if others - _NOTHING and not into:
        listed = ", ".join(sorted(others - _NOTHING)[:3])
        raise ScaffoldError(
            f"{folder} is not empty: it contains {listed}. Choose another path, or write the "
            "project next to them with --into."
        )
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise ScaffoldError(f"{nearest} is not writable: choose another path.")


def write_new(folder: Path, files: Mapping[str, str], *, into: bool = False) -> None:
    """Write all files, or none: after an interruption or an error, what was written is removed.

    A new folder appears complete, by a rename. With `into`, it may hold other files. Raises
    ScaffoldError.
    """
    check_target(folder, files, into=into)
    created = [path for path in (folder.parent, *folder.parent.parents) if not path.exists()]
    try:
        with _signals_as_exceptions():
            try:
                folder.parent.mkdir(parents=True, exist_ok=True)
                _write(folder, files)
            except BaseException:
                for path in created:
                    with suppress(OSError):  # not created yet, or no longer empty
                        path.rmdir()
                raise
    except OSError as error:
        raise ScaffoldError(f"{folder}: {error.strerror}; nothing was written.") from None


def _write(folder: Path, files: Mapping[str, str]) -> None:
    inside = folder.is_dir()
    scratch = (folder if inside else folder.parent) / f".scaffold-{secrets.token_hex(8)}"
    try:
        scratch.mkdir()
        for name, text in files.items():
            path = scratch / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        if inside:
            _move_into(scratch, folder, files)
        else:
            scratch.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _move_into(scratch: Path, folder: Path, files: Mapping[str, str]) -> None:
    """Move the files into an existing folder, and remove them if that is interrupted."""
    moved: list[Path] = []
    made: list[Path] = []
    try:
        for name in files:
            target = folder / name
            missing = [path for path in target.parents if not path.exists()]
            made += reversed(missing)
            target.parent.mkdir(parents=True, exist_ok=True)
            moved.append(target)
            try:
                os.link(scratch / name, target)  # unlike a rename, this never overwrites
            except FileExistsError:
                moved.pop()
                raise
            except OSError as error:
                if error.errno not in (errno.EPERM, errno.ENOTSUP):
                    raise
                with target.open("x", encoding="utf-8", newline="\n") as file:  # no hard links here
                    file.write(files[name])
    except BaseException:
        for path in moved:
            path.unlink(missing_ok=True)
        for path in reversed(made):
            with suppress(OSError):
                path.rmdir()
        raise


@contextmanager
def _signals_as_exceptions() -> Iterator[None]:
    """Turn signals that end the process into an exception, so that it cleans up.

    Only the main thread can: a server that writes in another one waits for it before it ends.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    # not ignored ones, such as SIGHUP under nohup
    numbers = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
