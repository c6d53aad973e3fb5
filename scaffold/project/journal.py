"""Changes the files of a project so that a kill, a full disk or an error never loses any.

All new texts are staged in `.scaffold/staged`, then `journal.json` appears by a rename: before it,
nothing has changed; after it, every command first finishes the update. The finished journal becomes
`undo.json`, which `scaffold undo` uses; it holds those of the updates before, up to STEPS in all.
"""

import errno
import hashlib
import json
import os
import re
import shutil
import stat
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scaffold.errors import ScaffoldError
from scaffold.project.changes import Change
from scaffold.project.pristine import FOLDER, PRISTINE, check_name

JOURNAL, UNDO, STAGED = (f"{FOLDER}/{name}" for name in ("journal.json", "undo.json", "staged"))
STEPS = 10  # that can be undone
IGNORE = "*\n!.gitignore\n!pristine.json\n"  # backups are not committed
ABOUT = "The files before and after the last updates, for `scaffold undo`. No need to commit this."

Modes = tuple[int | None, int | None]  # before and after; None: it does not exist


@dataclass(frozen=True)
class _Journal:
    """All changes to a project: enough to finish them, or to undo them."""

    undo: bool  # an undo leaves no backup of its own
    files: tuple[tuple[Change, Modes], ...]
    folders: Mapping[str, Modes]  # those created and removed
    command: str = ""  # that made the changes
    previous: Mapping[str, Any] | None = None  # the backup before, with those before it


@contextmanager
def locked(folder: Path) -> Iterator[list[str]]:
    """One command at a time on a project; yields what `recover` did.

    Raises ScaffoldError if another command is running, or if there is no project.
    """
    root = _root(folder)
    if sys.platform == "win32":  # has no flock
        yield recover(root)
        return
    import fcntl

    try:
        handle = os.open(root / FOLDER, os.O_RDONLY)
    except OSError as error:
        raise _unchanged(root, error) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ScaffoldError(
                f"{folder}: another scaffold command is running there. Wait until it finishes."
            ) from None
        except OSError:  # a network file system that can't lock folders: go on without a lock
            pass
        yield recover(root)
    finally:
        os.close(handle)


def recover(folder: Path) -> list[str]:
    """Finish an interrupted update, or discard one that has not changed anything yet.

    A file that its owner edited in the meantime stays, with the text of the update next to it.
    Returns what was done, a sentence each. Raises ScaffoldError if that fails, or if the journal is
    damaged.
    """
    root = _root(folder)
    journal = _load(root, JOURNAL)
    try:
        _discard(root / STAGED)
    except OSError as error:
        raise ScaffoldError(f"{root / STAGED}: can't be removed: {error.strerror}.") from None
    if journal is None:
        return []
    return [f"An interrupted {_word(journal)} was finished.", *_finish(root, journal)]


def apply_changes(folder: Path, changes: Sequence[Change], *, command: str = "") -> list[str]:
    """Make all these changes, or none; call it inside `locked`.

    `command` is what `scaffold undo` says it undid. Returns what the owner should know, a sentence
    each. Raises ScaffoldError with a message that says whether anything was changed.
    """
    changes = [change for change in changes if change.before != change.after]
    if not changes:
        return []
    root = _root(folder)
    try:
        files = _check(root, changes, {})
        folders = _folders(root, [change for change, _ in files])
    except OSError as error:
        raise _unchanged(root, error) from None
    return _carry_out(root, _Journal(False, files, folders, command, _read_backups(root)))


def last_update(folder: Path) -> tuple[Change, ...] | None:
    """What `undo_last` would revert. Raises ScaffoldError if the backup is damaged."""
    journal = _load(_root(folder), UNDO)
    return None if journal is None else tuple(change for change, _ in journal.files)


def last_commands(folder: Path) -> list[str]:
    """The commands that `undo_last` would revert, the last one first; '' for one not known."""
    found = [] if (journal := _load(_root(folder), UNDO)) is None else [journal.command]
    previous = journal.previous if journal else None
    while previous is not None:
        found.append(previous.get("command", ""))
        previous = previous.get("previous")
    return found


def texts_before_update(folder: Path) -> dict[str, str]:
    """The files that the last update changed, as they were before. Taking sides is a part of it."""
    root = _root(folder)
    earlier = json.loads((root / UNDO).read_text(encoding="utf-8")) if _load(root, UNDO) else None
    found: dict[str, str] = {}
    with suppress(KeyError, TypeError):  # damaged, in what nothing else has read yet
        while earlier is not None:
            found |= {file["path"]: file["before"] or "" for file in earlier["files"]}
            is_part = earlier["command"].startswith("scaffold resolve ")
            earlier = earlier["previous"] if is_part else None
    return found


def undo_last(folder: Path, keep_copy: bool) -> list[str]:
    """Revert what the last update changed; call it inside `locked`.

    Returns what the owner should know, a sentence each. Raises ScaffoldError if files were edited
    since and `keep_copy` is false, and like `apply_changes`.
    """
    root = _root(folder)
    update = _load(root, UNDO)
    if update is None:
        raise ScaffoldError(f"{folder}: there is no update to undo.")
    edited: list[str] = []
    changes: list[Change] = []
    copies: dict[str, Change] = {}
    modes = {change.path: before for change, (before, _) in update.files if before is not None}
    try:
        for change, _ in update.files:
            path = _locate(root, change.path)
            now = _read(path)
            if now == change.before:
                continue  # reverted by hand
            changes.append(Change(change.path, now, change.before))
            if now == change.after:
                continue
            edited.append(change.path)
            if now is not None:
                copy = _free(root, change.path, "kept", copies)
                copies[copy] = Change(copy, None, now)
                modes[copy] = stat.S_IMODE(path.stat().st_mode) & 0o777
        if edited and not keep_copy:
            raise ScaffoldError(
                f"{folder}: edited since the last update: {', '.join(edited)}; nothing was"
                " changed. To undo it and keep your versions as NAME.kept, use `--keep-copy`."
            )
        files = _check(root, [*copies.values(), *changes], modes)
    except OSError as error:
        raise _unchanged(root, error) from None
    folders = {name: (after, before) for name, (before, after) in update.folders.items()}
    notes = _carry_out(root, _Journal(True, files, folders, previous=update.previous))
    return [f"{copy} is your edited version of that file." for copy in copies] + notes


def _root(folder: Path) -> Path:
    """The project's folder without links. Raises ScaffoldError if it has no folder of scaffold."""
    home = folder / FOLDER
    if home.is_symlink() or not home.is_dir():
        raise ScaffoldError(f"{folder} is not a scaffold project: it has no folder {FOLDER}.")
    return Path(os.path.realpath(folder))


def _check_path(name: object) -> str:
    """Like `check_name`, but pristine.json is allowed too. Raises ValueError."""
    if isinstance(name, str) and re.fullmatch(re.escape(PRISTINE) + r"(\.kept[0-9]*)?", name):
        return name
    if name == ".":  # the project itself
        raise ValueError("'.' is not the path of a file in the project")
    return check_name(name)


def _locate(root: Path, name: str) -> Path:
    """The file itself, with links resolved. Raises ScaffoldError if it is not a project file."""
    path = Path(os.path.realpath(root / name))
    try:
        _check_path(name)
        _check_path(path.relative_to(root).as_posix())
    except ValueError:
        raise ScaffoldError(
            f"{name!r} leads to {path}, which is not a file of the project. scaffold does not"
            " write there: if it is a link, replace it with a file or folder."
        ) from None
    return path


def _read(path: Path) -> str | None:
    """Its text, or None if there is none. Raises OSError."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError(errno.EINVAL, "is not a regular file", str(path))
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return None


def _check(
    root: Path, changes: Sequence[Change], modes: Mapping[str, int]
) -> tuple[tuple[Change, Modes], ...]:
    """All changes with their modes, pristine.json last. `modes` replace the current ones.

    Raises ScaffoldError or OSError if one of them can't be made.
    """
    if os.path.lexists(root / JOURNAL):
        raise ScaffoldError(f"{root}: an update is unfinished. Run the command again.")
    files: list[tuple[Change, Modes]] = []
    targets: set[Path] = set()
    for change in sorted(changes, key=lambda change: change.path == PRISTINE):
        name, path = change.path, _locate(root, change.path)
        if path in targets:
            raise ScaffoldError(f"{name}: is a link to another file that changes. Remove the link.")
        targets.add(path)
        if _read(path) != change.before:
            raise ScaffoldError(f"{name}: changed just now; nothing was written. Try again.")
        if (root / name).is_symlink() and None in (change.before, change.after):
            raise ScaffoldError(f"{name}: is a link instead of a file. Remove the link.")
        mode = None if change.before is None else stat.S_IMODE(path.stat().st_mode) & 0o777
        if mode is not None and not (mode & stat.S_IWUSR and os.access(path, os.W_OK)):
            raise ScaffoldError(
                f"{name}: is read-only; nothing was written. Run `chmod u+w` on it."
            )
        if change.after is None:
            files.append((change, (mode, None)))
        else:
            default = 0o644 & ~_umask() if mode is None else mode
            files.append((change, (mode, modes.get(name, default))))
    for path in targets:
        parent = next(parent for parent in path.parents if os.path.lexists(parent))
        if not parent.is_dir() or not targets.isdisjoint(path.parents):
            raise ScaffoldError(f"{path}: a file is in the place of its folder. Move the file.")
        _check_folder(parent)
    _check_folder(root / FOLDER)
    return tuple(files)


def _check_folder(path: Path) -> None:
    """Raises ScaffoldError if files can't be put there."""
    # root can write anywhere: the mode says what the owner wants
    if not (path.stat().st_mode & stat.S_IWUSR and os.access(path, os.W_OK | os.X_OK)):
        raise ScaffoldError(f"{path}: is read-only; nothing was written. Run `chmod u+w` on it.")


def _folders(root: Path, changes: Sequence[Change]) -> dict[str, Modes]:
    """The folders that new files need, and those that deletions leave empty. Raises OSError."""
    folders: dict[Path, Modes] = {}
    gone: set[Path] = set()
    needed: set[Path] = set()
    for change in changes:
        path = _locate(root, change.path)
        if change.after is None:
            gone.add(path)
            continue
        needed.update(path.parents)
        missing = [parent for parent in path.parents if not parent.exists()]
        for parent in reversed(missing):
            inherited = next(each for each in parent.parents if each.exists()).stat().st_mode
            folders[parent] = (None, 0o777 & ~_umask() | inherited & stat.S_ISGID)
    for path in tuple(gone):
        for parent in path.parents:
            if parent == root or parent in needed or not gone.issuperset(parent.iterdir()):
                break
            _check_folder(parent.parent)
            gone.add(parent)
            folders[parent] = (stat.S_IMODE(parent.stat().st_mode) & 0o3777, None)
    return {path.relative_to(root).as_posix(): modes for path, modes in folders.items()}


def _carry_out(root: Path, journal: _Journal) -> list[str]:
    """Stage all changes, write the journal, apply them. Returns notes, raises ScaffoldError."""
    staged = root / STAGED
    try:
        _discard(staged)
        staged.mkdir(0o700)
        for number, (change, (_, mode)) in enumerate(journal.files):
            if change.after is not None and mode is not None:
                _write(staged / str(number), change.after, mode)
        _write(staged / "ignore", IGNORE, 0o644 & ~_umask())
        _write(staged / "journal", _dump(journal), 0o600)
        (staged / "journal").replace(root / JOURNAL)
    except BaseException as error:
        shutil.rmtree(staged, ignore_errors=True)
        if isinstance(error, OSError):
            raise _unchanged(root, error) from None
        raise
    return _finish(root, journal)


def _finish(root: Path, journal: _Journal) -> list[str]:
    """Apply the remaining changes. Returns notes, raises ScaffoldError."""
    notes: list[str] = []
    at = FOLDER
    touched = {root / FOLDER}
    try:
        _sync(root / FOLDER)
        for at, (_, mode) in sorted(journal.folders.items()):
            path = _locate(root, at)
            touched.add(path.parent)
            if mode is not None:
                if not path.is_dir():
                    path.mkdir(parents=True)
                path.chmod(mode)  # an earlier attempt may have ended between the two
        for number, (change, (_, mode)) in enumerate(journal.files):
            at = change.path
            touched.add(_locate(root, at).parent)
            notes += _bring(root, root / STAGED / str(number), change, mode)
        for at, (_, mode) in sorted(journal.folders.items(), reverse=True):
            if mode is None:
                with suppress(OSError):  # no longer empty, or done
                    _locate(root, at).rmdir()
        at = FOLDER
        ignore = root / FOLDER / ".gitignore"
        if not journal.undo and not os.path.lexists(ignore):
            _put(root / STAGED / "ignore", IGNORE, 0o644 & ~_umask(), ignore)
        for path in touched:
            if path.is_dir():
                _sync(path)
        if journal.undo and journal.previous is not None:
            _put(root / STAGED / "previous", _text_of(journal.previous), 0o600, root / UNDO)
        _discard(root / STAGED)
        if journal.undo:
            if journal.previous is None:
                (root / UNDO).unlink(missing_ok=True)
            _sync(
                root / FOLDER
            )  # after a crash, a leftover journal is harmless, a leftover backup is not
            (root / JOURNAL).unlink()
        else:
            (root / JOURNAL).replace(root / UNDO)
        _sync(root / FOLDER)
    except OSError as error:
        raise ScaffoldError(
            f"{root / at}: {error.strerror}. The {_word(journal)} is only partly written, but"
            " nothing is lost: fix this, and the next scaffold command finishes it."
        ) from None
    return notes


def _bring(root: Path, staged: Path, change: Change, mode: int | None) -> list[str]:
    """Make one change unless it is already made. Returns a note if the owner edited the file."""
    name, path = change.path, _locate(root, change.path)
    link = (root / name).is_symlink() and None in (change.before, change.after)
    ours = not link and (path.is_file() or not os.path.lexists(path))
    now = _read(path) if ours else None
    if ours and now == change.after:
        return []
    if ours and now == change.before:
        if change.after is None:
            path.unlink()
        else:
            _put(staged, change.after, mode, path)
        return []
    if change.after is None:
        return [f"{name} was edited in the meantime, so it was not deleted."]
    _aside(path, change.after).unlink(missing_ok=True)  # left by an attempt that was killed
    copy = _free(root, name, "update", (), change.after)
    if not os.path.lexists(root / copy):
        _put(staged, change.after, mode, root / copy)
    return [f"{name} was edited in the meantime and stays as it is: the update is in {copy}."]


def _free(
    root: Path, name: str, suffix: str, taken: Collection[str], text: str | None = None
) -> str:
    """An unused name next to this one, or the name of a file that already has this text."""
    number = 0
    while True:
        free = f"{name}.{suffix}{number or ''}"
        path = root / free
        if free not in taken and not os.path.lexists(path):
            return free
        if text is not None and path.is_file() and not path.is_symlink() and _read(path) == text:
            return free
        number += 1


def _aside(path: Path, text: str) -> Path:
    """A name for a temporary file that nobody else uses, and the same one after a kill."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    return path.with_name(f".{path.name}.{digest[:16]}")


def _put(staged: Path, text: str, mode: int | None, path: Path) -> None:
    """Move a staged file to its place, or write it again if it is gone. Raises OSError."""
    mode = 0o600 if mode is None else mode
    if not path.parent.is_dir():
        path.parent.mkdir(parents=True)
    aside = _aside(path, text)
    aside.unlink(missing_ok=True)  # left by an attempt that was killed
    if not staged.exists():
        staged.parent.mkdir(0o700, exist_ok=True)
        _write(staged, text, mode)
    try:
        staged.replace(path)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # the folder is on another file system
        _write(aside, text, mode)
        aside.replace(path)


def _write(path: Path, text: str, mode: int) -> None:
    """Write a new file to the disk. Raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, 0o600)
    try:
        data = memoryview(text.encode("utf-8", "surrogateescape"))
        while data:
            data = data[os.write(handle, data) :]
        path.chmod(mode)  # whatever the umask is
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync(folder: Path) -> None:
    """Renames in a folder reach the disk only when the folder is synced. Raises OSError."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some file systems can't
            raise
    finally:
        os.close(handle)


def _discard(path: Path) -> None:
    """Remove a folder, or a link that someone put there. Raises OSError."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _dump(journal: _Journal) -> str:
    data = {
        "about": ABOUT,
        "undo": journal.undo,
        "files": [
            {"path": change.path, "before": change.before, "after": change.after, "modes": modes}
            for change, modes in journal.files
        ],
        "folders": journal.folders,
        "command": journal.command,
        "previous": journal.previous,
    }
    return _text_of(data)


def _text_of(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=1) + "\n"  # in ASCII, because of bytes that are not UTF-8


def _read_backups(root: Path) -> Mapping[str, Any] | None:
    """The backups of the last updates as they are stored, without those beyond STEPS - 1."""
    if _load(root, UNDO) is None:
        return None
    data: dict[str, Any] = json.loads((root / UNDO).read_text(encoding="utf-8"))
    oldest: dict[str, Any] | None = data
    for _ in range(STEPS - 2):
        oldest = oldest and oldest.get("previous")
    if oldest:
        oldest["previous"] = None
    return data


def _load(root: Path, name: str) -> _Journal | None:
    """None if there is none. Raises ScaffoldError for one that scaffold did not write."""
    path = root / name
    if not os.path.lexists(path):
        return None
    mend = "Nothing was written. Check your files, then delete this one."
    try:
        if path.is_symlink() or not path.is_file():
            raise ValueError("it is not a file")
        data = json.loads(path.read_text(encoding="utf-8"))
        files = [
            (
                Change(_check_path(file["path"]), _text(file["before"]), _text(file["after"])),
                _modes(file["modes"], 0o777, file["before"], file["after"]),
            )
            for file in data["files"]
        ]
        folders = {
            check_name(folder): _modes(modes, 0o3777, *modes)
            for folder, modes in data["folders"].items()
        }
        if not isinstance(data["undo"], bool):
            raise ValueError("'undo' is neither true nor false")
        earlier: Any = data
        while earlier is not None:
            if not isinstance(earlier, dict) or not isinstance(earlier.get("command", ""), str):
                raise ValueError("'command' or 'previous' is of another type")
            earlier = earlier.get("previous")
        for place in (*(change.path for change, _ in files), *folders):
            _locate(root, place)
    except OSError as error:
        raise ScaffoldError(f"{path}: can't be read: {error.strerror}.") from None
    except ScaffoldError as error:
        raise ScaffoldError(f"{path}: {error}") from None
    except KeyError as error:
        raise ScaffoldError(f"{path}: is damaged: {error} is missing. {mend}") from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ScaffoldError(f"{path}: is damaged: {error}. {mend}") from None
    command = data.get("command", "")
    return _Journal(data["undo"], tuple(files), folders, command, data.get("previous"))


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        (value or "").encode(
            "utf-8", "surrogateescape"
        )  # raises ValueError if that can't be written
        return value
    raise ValueError("a file is not text")


def _modes(modes: Any, mask: int, *present: object) -> Modes:
    """Raises ValueError unless each file that exists has a mode within this mask."""
    before, after = modes
    for mode, value in zip((before, after), present, strict=True):
        if (mode is None) != (value is None):
            raise ValueError("a file without a mode, or a mode without a file")
        if mode is not None and (type(mode) is not int or mode & ~mask):
            raise ValueError(f"{mode!r} is not a file mode")
    return before, after


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _word(journal: _Journal) -> str:
    return "undo" if journal.undo else "update"


def _unchanged(root: Path, error: OSError) -> ScaffoldError:
    return ScaffoldError(f"{error.filename or root}: {error.strerror}; nothing was changed.")
