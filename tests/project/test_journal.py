"""Updates are made whole or not at all, also by a process that is killed at any of its calls."""

import errno
import itertools
import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from scaffold.errors import ScaffoldError
from scaffold.project.changes import Change
from scaffold.project.journal import (
    apply_changes,
    last_commands,
    last_update,
    locked,
    recover,
    undo_last,
)
from support.combinations import in_turns
from support.files import write_files

CALLS = ["open", "write", "fsync", "close", "replace"]
CALLS += ["rename", "unlink", "mkdir", "rmdir", "chmod"]
PRISTINE = ".scaffold/pristine.json"
EARLIER = (Change("earlier.py", None, "earlier\n"),)  # that is undone after the last update
OURS = {".scaffold/.gitignore", ".scaffold/undo.json"}

Snapshot = dict[str, tuple[int, bytes | str | None]]


def text(path: Path) -> str | None:
    if not path.exists():
        return None
    return path.read_bytes().decode("utf-8", "surrogateescape")


def snapshot(folder: Path, leave_out: set[str] | frozenset[str] = frozenset(OURS)) -> Snapshot:
    """Everything in the project: modes, bytes and links, with any leftovers of ours."""
    found: Snapshot = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        mode = path.lstat().st_mode
        if name not in leave_out:
            if path.is_symlink():
                found[name] = (mode, str(path.readlink()))
            else:
                found[name] = (mode, path.read_bytes() if path.is_file() else None)
    return found


@pytest.fixture(autouse=True)
def surroundings() -> Iterator[None]:
    mask = os.umask(0o022)
    with mock.patch.object(os, "fsync", lambda handle: None):  # slow, no matter after a kill
        yield
    os.umask(mask)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    memory = Path("/dev/shm")  # ten times as fast as a disk, if there is one
    usable = memory.is_dir() and os.access(memory, os.W_OK)
    with tempfile.TemporaryDirectory(dir=memory if usable else None) as folder:
        yield Path(folder).resolve()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


def make_project(folder: Path) -> Path:
    """A project with an earlier update, and the owner's own files."""
    files = {
        "train.py": "größe = 1\n".encode() + b"# \xff\xfe no UTF-8\n",
        "data.py": b"one\r\ntwo\r\n",
        "old/gone.py": b"gone\n",
        "old/deep/too.py": b"",
        "half/gone.py": b"gone\n",
        "half/mine.py": b"mine\n",
        "lib/real.py": b"real\n",
        "mine.txt": b"mine\n",
        PRISTINE: b"{}\n",
    }
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (folder / "linked.py").symlink_to("lib/real.py")
    (folder / "src").symlink_to("lib", target_is_directory=True)
    (folder / "data.py").chmod(0o750)
    (folder / "old/gone.py").chmod(0o600)
    (folder / "old/deep").chmod(0o700)
    (folder / "old").chmod(0o775)
    with locked(folder):
        apply_changes(folder, EARLIER)
    return folder


def update_of(folder: Path) -> list[Change]:
    """An update with everything in it that a file can be."""
    after = {
        PRISTINE: '{"new": 1}\n',
        "train.py": "größe = 2 🎉\n# \udcff\udcfe no UTF-8\n",
        "data.py": "one\r\n2\r\n",
        "old/gone.py": None,
        "old/deep/too.py": None,
        "half/gone.py": None,
        "linked.py": "really\n",
        "new.py": "new\n",
        "made/deep/new.py": "new\n" * 1000,
        "src/sub/new.py": "new\n",
        "empty.py": "",
        "same.py": None,
    }
    return [Change(name, text(folder / name), value) for name, value in after.items()]


def update(folder: Path) -> list[str]:
    with locked(folder) as notes:
        return notes + apply_changes(folder, update_of(folder))


def undo(folder: Path, keep_copy: bool = False) -> list[str]:
    with locked(folder):
        return undo_last(folder, keep_copy)


def settle(folder: Path) -> list[str]:
    with locked(folder) as notes:
        return notes


@contextmanager
def intercepted(
    number: int,
    act: Callable[[str, tuple[Any, ...]], None],
    names: Sequence[str] = CALLS,
    other_file_system: bool = False,
) -> Iterator[list[str]]:
    """Act before the n-th call that changes a file; yields the calls as they are made."""
    made: list[str] = []

    def wrap(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if name in names:
                made.append(name)
                if len(made) == number:
                    act(name, args)
            if name == "replace" and other_file_system:
                inside = ["/.scaffold/staged/" in str(args[0]), "/.scaffold/" in str(args[1])]
                if inside == [True, False]:
                    raise OSError(errno.EXDEV, "other file system", str(args[0]))
            return real(*args, **kwargs)

        return call

    with mock.patch.multiple(os, **{name: wrap(name, getattr(os, name)) for name in CALLS}):
        yield made


def kill(name: str, args: tuple[Any, ...]) -> None:
    if name == "write":
        REAL_WRITE(args[0], bytes(args[1])[: len(args[1]) // 2])
    os.kill(os.getpid(), signal.SIGKILL)


REAL_WRITE = os.write


def killed_at(number: int, action: Callable[[], object], other_file_system: bool = False) -> bool:
    """Whether a process of its own was killed at the n-th call of this, and did not end before."""
    child = os.fork()
    if child == 0:
        try:
            with intercepted(number, kill, other_file_system=other_file_system):
                action()
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def copies(original: Path, tmp_path: Path, step: int = 1) -> Iterator[tuple[int, Path]]:
    """A copy for each call at which something happens: for 1, 1 + step, 1 + 2 step, ..."""
    for number in itertools.count(1, step):
        folder = tmp_path / "copy"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(original, folder, symlinks=True)
        yield number, folder


def test_update_and_undo(project: Path) -> None:
    before = snapshot(project)
    assert update(project) == []
    new = "größe = 2 🎉\n".encode() + b"# \xff\xfe no UTF-8\n"
    assert (project / "train.py").read_bytes() == new
    assert (project / "data.py").read_bytes() == b"one\r\n2\r\n"
    assert stat.S_IMODE((project / "data.py").stat().st_mode) == 0o750
    assert stat.S_IMODE((project / "new.py").stat().st_mode) == 0o644
    assert not (project / "old").exists()
    assert sorted(path.name for path in (project / "half").iterdir()) == ["mine.py"]
    assert (project / "linked.py").is_symlink()
    assert (project / "lib/real.py").read_bytes() == b"really\n"
    assert (project / "lib/sub/new.py").exists() and (project / "src").is_symlink()
    inside = {path.name for path in (project / ".scaffold").iterdir()}
    assert inside == {".gitignore", "pristine.json", "undo.json"}
    assert undo(project) == []
    assert snapshot(project) == before
    assert last_update(project) == EARLIER and undo(project) == []
    assert not (project / ".scaffold/undo.json").exists()
    with pytest.raises(ScaffoldError, match="no update to undo"):
        undo(project)


def test_everything_is_flushed_before_the_commit_and_before_the_end(project: Path) -> None:
    calls: list[str] = []
    real_replace = os.replace

    def replace(source: Any, target: Any) -> None:
        calls.append(Path(target).name)
        real_replace(source, target)

    def fsync(handle: int) -> None:
        calls.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")

    with mock.patch.multiple(os, replace=replace, fsync=fsync):
        update(project)
    commit, end = calls.index("journal.json"), calls.index("undo.json")
    assert calls[:commit].count("file") == 8 + 2  # texts, .gitignore, journal
    assert calls[commit + 1] == "folder" and calls[-1] == "folder"
    # root, made, made/deep, lib, lib/sub, half, .scaffold; `old` is gone
    assert calls[commit + 2 : end].count("folder") == 7


def test_nothing_to_do_writes_nothing(project: Path) -> None:
    update(project)
    before = snapshot(project, frozenset())
    with locked(project):
        assert apply_changes(project, []) == []
        assert apply_changes(project, [Change("mine.txt", "mine\n", "mine\n")]) == []
    assert snapshot(project, frozenset()) == before
    assert len(last_update(project) or ()) == 11


def test_the_last_ten_updates_are_undone_one_after_the_other(project: Path) -> None:
    states = []
    for number in range(13):
        states.append(snapshot(project))
        with locked(project):
            before = text(project / "new.py")
            change = Change("new.py", before, f"{number}\n")
            apply_changes(project, [change], command=f"update {number}")
    assert last_commands(project) == [f"update {number}" for number in range(12, 2, -1)]
    for number in range(12, 2, -1):
        assert undo(project) == []
        assert snapshot(project) == states[number]
    assert last_commands(project) == []
    with pytest.raises(ScaffoldError, match="no update to undo"):
        undo(project)


def test_backups_are_private_and_ignored(project: Path) -> None:
    assert (project / ".scaffold/.gitignore").read_text() == "*\n!.gitignore\n!pristine.json\n"
    (project / ".scaffold/.gitignore").write_text("of the owner\n")

    def look(name: str, args: tuple[Any, ...]) -> None:
        path = project / ".scaffold/journal.json"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE((project / ".scaffold/staged").stat().st_mode) == 0o700

    with intercepted(3, look, ["replace"]) as made:
        update(project)
    assert len(made) >= 3
    assert stat.S_IMODE((project / ".scaffold/undo.json").stat().st_mode) == 0o600
    assert (project / ".scaffold/.gitignore").read_text() == "of the owner\n"


def test_a_restrictive_umask_is_kept_to(project: Path) -> None:
    os.umask(0o077)
    update(project)
    assert stat.S_IMODE((project / "new.py").stat().st_mode) == 0o600
    assert stat.S_IMODE((project / "made").stat().st_mode) == 0o700
    assert stat.S_IMODE((project / "data.py").stat().st_mode) == 0o750


def test_a_folder_that_was_there_stays(project: Path) -> None:
    (project / "hollow").mkdir()
    before = snapshot(project)
    with locked(project):
        apply_changes(project, [Change("hollow/new.py", None, "new\n")])
    undo(project)
    assert snapshot(project) == before


def refused(folder: Path, *changes: Change) -> str:
    """The message. Nothing of the project changes."""
    before = snapshot(folder, frozenset())
    with locked(folder), pytest.raises(ScaffoldError) as error:
        apply_changes(folder, changes)
    assert snapshot(folder, frozenset()) == before
    return str(error.value)


@pytest.mark.parametrize(
    "name",
    [
        *("../x", "/etc/x", "a/../../x", ".git/hooks/pre-commit", "a/.GIT/x"),
        *(".scaffold/undo.json", ".scaffold/x", "a\\b", "C:x", "", ".", "a//b", "a\nb"),
    ],
)
def test_paths_that_are_none_of_the_project(project: Path, name: str) -> None:
    good = Change("new.py", None, "new\n")
    assert "not a file of the project" in refused(project, good, Change(name, None, "bad\n"))


def test_links_that_lead_outside(project: Path, tmp_path: Path) -> None:
    outside = write_files(tmp_path / "outside", {"file": "theirs\n"})
    (project / "file.py").symlink_to(outside / "file")
    (project / "folder").symlink_to(outside)
    (project / ".git/hooks").mkdir(parents=True)
    (project / "hook").symlink_to(".git/hooks/pre-commit")
    (project / "state").symlink_to(".scaffold/undo.json")
    for name, before in (
        ("file.py", "theirs\n"),
        ("folder/file", "theirs\n"),
        ("folder/new", None),
        ("hook", None),
        ("state", text(project / ".scaffold/undo.json")),
    ):
        message = refused(project, Change("new.py", None, "new\n"), Change(name, before, "bad\n"))
        assert name in message and "not a file of the project" in message
    assert [path.name for path in outside.iterdir()] == ["file"]
    assert (outside / "file").read_text() == "theirs\n"


def test_links_are_neither_created_nor_deleted(project: Path) -> None:
    (project / "dangling.py").symlink_to("lib/none.py")
    assert "link" in refused(project, Change("linked.py", "real\n", None))
    assert "link" in refused(project, Change("dangling.py", None, "x"))
    both = Change("lib/real.py", "real\n", "1"), Change("linked.py", "real\n", "2")
    assert "another file that changes" in refused(project, *both)


def test_the_folder_of_scaffold_is_no_link(project: Path, tmp_path: Path) -> None:
    (project / ".scaffold").rename(tmp_path / "elsewhere")
    (project / ".scaffold").symlink_to(tmp_path / "elsewhere")
    for action in (settle, update, undo, last_update, recover):
        with pytest.raises(ScaffoldError, match="not a scaffold project"):
            action(project)


def test_a_file_that_was_changed_meanwhile(project: Path) -> None:
    changes = update_of(project)
    (project / "data.py").write_bytes(b"one\ntwo\n")  # other newlines only
    assert "data.py: changed just now" in refused(project, *changes)
    (project / "data.py").unlink()
    assert "data.py: changed just now" in refused(project, *changes)
    (project / "data.py").write_bytes(b"one\r\ntwo\r\n")
    (project / "new.py").write_text("mine\n")
    assert "new.py: changed just now" in refused(project, *changes)


def test_read_only(project: Path) -> None:
    (project / "mine.txt").chmod(0o444)  # not part of the update
    (project / "train.py").chmod(0o464)
    changes = update_of(project)
    assert "train.py: is read-only" in refused(project, *changes)
    (project / "train.py").chmod(0o644)
    for name in ("half", "lib", "old", ".scaffold", "."):
        mode = (project / name).stat().st_mode
        (project / name).chmod(0o555)
        message = refused(project, *changes)
        (project / name).chmod(mode)
        assert f"{(project / name).resolve()}: is read-only" in message
    for name, change in (
        (".scaffold", Change("new.py", None, "new\n")),
        ("old", Change("old/deep/too.py", "", None)),  # which would leave `deep` empty
    ):
        (project / name).chmod(0o555)
        assert f"{name}: is read-only" in refused(project, change)
        (project / name).chmod(0o755)
    update(project)


def test_a_read_only_folder_whose_own_files_stay(project: Path) -> None:
    (project / "old/gone.py").unlink()
    (project / "old").chmod(0o555)
    before = snapshot(project)
    swap = [Change("old/deep/too.py", "", None), Change("old/deep/other.py", None, "new\n")]
    with locked(project):
        apply_changes(project, swap)
    assert [path.name for path in (project / "old/deep").iterdir()] == ["other.py"]
    undo(project)
    assert snapshot(project) == before


def test_what_is_no_file(project: Path) -> None:
    assert "not a regular file" in refused(project, Change("old", None, "x"))
    os.mkfifo(project / "pipe")
    assert "not a regular file" in refused(project, Change("pipe", None, "x"))
    beyond = refused(project, Change("train.py/x.py", None, "x"))
    assert "a file is in the place of its folder" in beyond
    both = Change("both", None, "x"), Change("both/x.py", None, "x")
    assert "a file is in the place of its folder" in refused(project, *both)
    (project / "loop").symlink_to("loop")
    assert "nothing was changed" in refused(project, Change("loop", "", "x"))


def outcomes(
    project: Path, tmp_path: Path, act: Callable[[str, tuple[Any, ...]], None], names: list[str]
) -> list[str]:
    """What the update raised when that happened at its first call, its second, and so on."""
    old = snapshot(project)
    update(project)
    new = snapshot(project)
    undo_text = (project / ".scaffold/undo.json").read_bytes()
    shutil.rmtree(project)
    make_project(project)
    earlier = (project / ".scaffold/undo.json").read_bytes()
    raised: list[str] = []
    for number, folder in copies(project, tmp_path):
        error: BaseException | None = None
        with locked(folder), intercepted(number, act, names) as made:
            try:
                apply_changes(folder, update_of(folder))
            except (ScaffoldError, KeyboardInterrupt) as caught:
                error = caught
        if len(made) < number:
            assert error is None
            break
        raised.append(str(error) if isinstance(error, ScaffoldError) else "interrupted")
        if "nothing was changed" in raised[-1]:
            assert snapshot(folder) == old
            assert (folder / ".scaffold/undo.json").read_bytes() == earlier
        settle(folder)
        if (folder / ".scaffold/undo.json").read_bytes() == earlier:
            assert snapshot(folder) == old
        else:
            assert (folder / ".scaffold/undo.json").read_bytes() == undo_text
            assert snapshot(folder) == new
            undo(folder)
            assert snapshot(folder) == old
    return raised


def fail(name: str, args: tuple[Any, ...]) -> None:
    raise OSError(errno.EIO, "Input/output error")


def test_full_disk_at_every_write(project: Path, tmp_path: Path) -> None:
    def full(name: str, args: tuple[Any, ...]) -> None:
        REAL_WRITE(args[0], bytes(args[1])[: len(args[1]) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    messages = outcomes(project, tmp_path, full, ["write"])
    assert len(messages) == 9  # seven texts that are not empty, .gitignore, journal
    for message in messages:
        assert "No space left on device; nothing was changed" in message
        assert "None" not in message


def test_errors_at_every_call(project: Path, tmp_path: Path) -> None:
    # a folder that can't be removed is left alone, and `close` comes after the flush
    names = sorted({*CALLS} - {"rmdir", "close"})
    messages = outcomes(project, tmp_path, fail, names)
    before = sum("nothing was changed" in message for message in messages)
    after = sum("the next scaffold command finishes it" in message for message in messages)
    assert before > 20 and after > 20 and before + after == len(messages)
    for name in ("train.py", "old/gone.py", "made/deep", "lib", PRISTINE):
        assert any(name in message for message in messages), name


def test_interrupts_at_every_call(project: Path, tmp_path: Path) -> None:
    def interrupt(name: str, args: tuple[Any, ...]) -> None:
        raise KeyboardInterrupt

    assert len(outcomes(project, tmp_path, interrupt, CALLS)) > 50


def test_a_failed_update_is_not_forgotten(project: Path) -> None:
    with intercepted(4, fail, ["replace"]), locked(project):
        with pytest.raises(ScaffoldError, match="partly written"):
            apply_changes(project, update_of(project))
        with pytest.raises(ScaffoldError, match="unfinished"):
            apply_changes(project, [Change("other.py", None, "x")])
    assert settle(project) == ["An interrupted update was finished."]
    assert settle(project) == []


@contextmanager
def mounted(folder: Path) -> Iterator[None]:
    """A real file system of its own, where that is permitted."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("can't mount")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_really_full(project: Path, tmp_path: Path) -> None:
    with mounted(tmp_path / "disk"):
        folder = tmp_path / "disk/project"
        shutil.copytree(project, folder, symlinks=True)
        before = snapshot(folder, frozenset())
        big = [Change(f"big{number}.py", None, "x" * 100_000) for number in range(2)]
        with locked(folder):
            with pytest.raises(ScaffoldError, match=r"No space left.*nothing was changed"):
                apply_changes(folder, big)
            assert snapshot(folder, frozenset()) == before
            apply_changes(folder, [Change("small.py", None, "x")])


def test_a_folder_on_another_disk(project: Path) -> None:
    with mounted(project / "other"):
        (project / "other/a.py").write_bytes(b"1\n")
        before = snapshot(project)
        with locked(project):
            apply_changes(project, [Change("other/a.py", "1\n", "2\n"), Change("b.py", None, "")])
        assert [path.name for path in (project / "other").iterdir()] == ["a.py"]
        assert (project / "other/a.py").read_bytes() == b"2\n"
        undo(project)
        assert snapshot(project) == before


OTHER = [False, pytest.param(True, marks=pytest.mark.sweep)]
# at which calls: at every one in the sweep, at every sixth in every run
STEPS = [pytest.param(6, id="some"), pytest.param(1, id="all", marks=pytest.mark.sweep)]


@pytest.mark.every_run
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("other_file_system", OTHER)
def test_an_update_killed_at_every_call(
    project: Path, tmp_path: Path, other_file_system: bool, step: int
) -> None:
    old = snapshot(project)
    original = tmp_path / "original"
    shutil.copytree(project, original, symlinks=True)
    update(project)
    new = snapshot(project)
    kept_old = kept_new = 0
    for number, folder in copies(original, tmp_path, step):
        if not killed_at(number, lambda folder=folder: update(folder), other_file_system):
            break
        notes = settle(folder)
        now = snapshot(folder)
        last = last_update(folder)
        assert last is not None
        if now == old:
            kept_old += 1
            assert notes == [] and [change.path for change in last] == ["earlier.py"]
            assert update(folder) == []
        else:
            kept_new += 1
            assert len(last) == 11 and notes in ([], ["An interrupted update was finished."])
        assert snapshot(folder) == new
        assert undo(folder) == []
        assert snapshot(folder) == old
    assert min(kept_old, kept_new) * step > 40


def killed_updates(project: Path, tmp_path: Path) -> list[Path]:
    """Copies of the project whose update was killed after it had begun: early, halfway, late."""
    trial = tmp_path / "trial"
    shutil.copytree(project, trial, symlinks=True)
    with intercepted(0, kill) as made:
        update(trial)
    begun = made.index("replace") + 2  # the first call after the journal is there
    chosen = [begun, (begun + len(made)) // 2, len(made) - made[::-1].index("replace")]
    found = []
    for number in chosen:
        found.append(tmp_path / f"killed{number}")
        shutil.copytree(project, found[-1], symlinks=True)
        assert killed_at(number, lambda: update(found[-1]))
    return found


@pytest.mark.every_run
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("other_file_system", OTHER)
def test_a_recovery_killed_at_every_call(
    project: Path, tmp_path: Path, other_file_system: bool, step: int
) -> None:
    states = killed_updates(project, tmp_path)
    update(project)
    new = snapshot(project, {".scaffold/.gitignore"})  # with the backup
    kills = []
    for state in states:
        for number, folder in copies(state, tmp_path, step):
            if not killed_at(number, lambda folder=folder: settle(folder), other_file_system):
                kills.append(number - 1)
                break
            settle(folder)
            assert snapshot(folder, {".scaffold/.gitignore"}) == new
    assert len(kills) == 3 and min(kills) > 20 and kills[0] > 80


@pytest.mark.every_run
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("keep_copy", in_turns([True, False], 2))
def test_an_undo_killed_at_every_call(
    project: Path, tmp_path: Path, keep_copy: bool, step: int
) -> None:
    target = snapshot(project)
    update(project)
    if keep_copy:
        (project / "train.py").write_bytes(b"mine \xff\r\n")
        (project / "old").mkdir()
        (project / "old/gone.py").write_bytes(b"back\n")
        (project / "data.py").unlink()
        (project / PRISTINE).write_text("edited\n")
        target["train.py.kept"] = snapshot(project)["train.py"]
        target["old/gone.py.kept"] = snapshot(project)["old/gone.py"]
        target[PRISTINE + ".kept"] = snapshot(project)[PRISTINE]
    start = snapshot(project)
    before = after = 0
    for number, folder in copies(project, tmp_path, step):
        if not killed_at(number, lambda folder=folder: undo(folder, keep_copy)):
            break
        settle(folder)
        if snapshot(folder) == start:
            before += 1
            undo(folder, keep_copy)
        else:
            after += 1
        assert snapshot(folder) == target
        assert last_update(folder) == EARLIER
    assert min(before, after) * step > 40


@pytest.mark.sweep
def test_a_step_that_keeps_the_update_before_killed_at_every_call(
    project: Path, tmp_path: Path
) -> None:
    """So is its undo; each can be undone after the other."""

    def later(folder: Path) -> None:
        with locked(folder):
            changes = [Change(name, text(folder / name), "later\n") for name in ("new.py", "b.py")]
            apply_changes(folder, changes, command="scaffold resolve")

    old = snapshot(project)
    update(project)
    updated, backup = snapshot(project), (project / ".scaffold/undo.json").read_text()
    counts = []
    for first in (later, undo):
        start = snapshot(project)
        counts += [0, 0]
        for number, folder in copies(project, tmp_path):
            if not killed_at(number, lambda folder=folder, act=first: act(folder)):
                break
            settle(folder)
            if snapshot(folder) == start:
                counts[-2] += 1
                first(folder)
            else:
                counts[-1] += 1
            if first is later:
                assert last_commands(folder) == ["scaffold resolve", "", ""]
                assert text(folder / "b.py") == "later\n"
                undo(folder)
            assert snapshot(folder) == updated
            assert (folder / ".scaffold/undo.json").read_text() == backup
            assert undo(folder) == [] and snapshot(folder) == old
            assert last_update(folder) == EARLIER
        if first is later:
            later(project)
    assert min(counts) > 8, counts


def edited_after_a_kill(project: Path, tmp_path: Path) -> Path:
    folder = killed_updates(project, tmp_path)[0]
    assert snapshot(folder) != snapshot(project)  # with a journal
    (folder / "train.py").write_bytes(b"mine\n")
    (folder / "new.py").write_bytes(b"mine too\n")
    (folder / "new.py.update").write_bytes(b"taken\n")
    (folder / "old/gone.py").write_bytes(b"needed\n")
    (folder / "made").mkdir()
    (folder / "empty.py").mkdir()
    shutil.rmtree(folder / "lib")
    return folder


def test_what_the_owner_edited_after_a_kill(project: Path, tmp_path: Path) -> None:
    folder = edited_after_a_kill(project, tmp_path)
    notes = settle(folder)
    assert notes[0] == "An interrupted update was finished."
    assert len(notes) == 6
    for name in ("train.py", "new.py", "empty.py", "linked.py", "old/gone.py"):
        assert sum(note.startswith(f"{name} was edited") for note in notes) == 1, notes
    assert (folder / "train.py").read_bytes() == b"mine\n"
    assert "größe = 2" in (text(folder / "train.py.update") or "")
    assert (folder / "new.py").read_bytes() == b"mine too\n"
    assert (folder / "new.py.update").read_bytes() == b"taken\n"
    assert (folder / "new.py.update1").read_bytes() == b"new\n"
    assert (folder / "old/gone.py").read_bytes() == b"needed\n"
    assert (folder / "empty.py").is_dir() and (folder / "empty.py.update").read_bytes() == b""
    assert not (folder / "lib/real.py").exists()
    assert (folder / "linked.py.update").read_bytes() == b"really\n"
    assert (folder / "data.py").read_bytes() == b"one\r\n2\r\n"
    assert not (folder / ".scaffold/staged").exists()
    (folder / "empty.py").rmdir()
    with pytest.raises(ScaffoldError, match=r"train\.py"):
        undo(folder)


@pytest.mark.sweep
def test_such_a_recovery_killed_at_every_call(project: Path, tmp_path: Path) -> None:
    state = edited_after_a_kill(project, tmp_path)
    whole = tmp_path / "whole"
    shutil.copytree(state, whole, symlinks=True)
    settle(whole)
    result = snapshot(whole)
    kills = 0
    for number, folder in copies(state, tmp_path):
        if not killed_at(number, lambda folder=folder: settle(folder), other_file_system=True):
            break
        kills += 1
        settle(folder)
        assert snapshot(folder) == result
    assert kills > 60


def test_an_edit_after_a_kill_on_another_disk(project: Path, tmp_path: Path) -> None:
    leftovers = 0
    for number, folder in copies(project, tmp_path):
        if not killed_at(number, lambda folder=folder: update(folder), other_file_system=True):
            break
        if any(folder.glob(".train.py.*")):
            leftovers += 1
            (folder / "train.py").write_bytes(b"mine\n")
            assert len(settle(folder)) == 2
            assert not any(folder.glob(".train.py.*"))
    assert leftovers > 3


def test_a_link_put_there_after_a_kill_does_not_delete_its_target(
    project: Path, tmp_path: Path
) -> None:
    folder = killed_updates(project, tmp_path)[0]
    (folder / "half/gone.py").rename(folder / "half/moved.py")
    (folder / "half/gone.py").symlink_to("moved.py")
    assert any("half/gone.py was edited" in note for note in settle(folder))
    assert (folder / "half/moved.py").read_bytes() == b"gone\n"


def test_an_edit_while_the_update_is_written(project: Path) -> None:
    def edit(name: str, args: tuple[Any, ...]) -> None:
        (project / PRISTINE).write_bytes(b"mine\n")

    with intercepted(3, edit, ["replace"]):
        notes = update(project)
    assert len(notes) == 1 and notes[0].startswith(f"{PRISTINE} was edited in the meantime")
    assert (project / PRISTINE).read_bytes() == b"mine\n"
    assert (project / f"{PRISTINE}.update").read_bytes() == b'{"new": 1}\n'


def test_undo_refuses_edited_files_and_keeps_copies(project: Path) -> None:
    before = snapshot(project)
    update(project)
    (project / "train.py").write_bytes(b"mine \xff\r\n")
    (project / "train.py").chmod(0o600)
    (project / "train.py.kept").write_bytes(b"taken\n")
    (project / "new.py").write_bytes(b"mine too\n")
    (project / "linked.py").write_bytes(b"through\n")
    (project / "data.py").write_bytes(b"one\r\ntwo\r\n")  # taken back by hand
    (project / "mine.txt").write_bytes(b"not looked at\n")
    edited = snapshot(project, frozenset())
    with pytest.raises(ScaffoldError) as error:
        undo(project)
    assert snapshot(project, frozenset()) == edited
    assert "linked.py, train.py" in str(error.value) or "train.py, linked.py" in str(error.value)
    assert "new.py" in str(error.value) and "--keep-copy" in str(error.value)
    assert "data.py" not in str(error.value) and "mine.txt" not in str(error.value)
    notes = undo(project, keep_copy=True)
    assert {note.split()[0] for note in notes} == {
        "linked.py.kept",
        "new.py.kept",
        "train.py.kept1",
    }
    now = snapshot(project)
    assert stat.S_IMODE(now["train.py.kept1"][0]) == 0o600
    for name, kept in {
        "train.py.kept1": b"mine \xff\r\n",
        "new.py.kept": b"mine too\n",
        "linked.py.kept": b"through\n",
        "train.py.kept": b"taken\n",
        "mine.txt": b"not looked at\n",
    }.items():
        assert now.pop(name)[1] == kept
    del before["mine.txt"]
    assert now == before  # the mode of train.py too


def test_undo_keeps_files_that_the_owner_added(project: Path) -> None:
    update(project)
    (project / "made/deep/mine.py").write_bytes(b"mine\n")
    undo(project)
    assert [path.name for path in (project / "made/deep").iterdir()] == ["mine.py"]


def test_undo_after_everything_was_taken_back_by_hand(project: Path) -> None:
    with locked(project):
        apply_changes(project, [Change("mine.txt", "mine\n", "2\n")])
    (project / "mine.txt").write_text("mine\n")
    assert undo(project) == []
    assert last_update(project) == EARLIER


def test_undo_that_can_not_be_done_changes_nothing(project: Path) -> None:
    update(project)
    (project / "old").write_bytes(b"a file now\n")
    before = snapshot(project, frozenset())
    with pytest.raises(ScaffoldError, match="a file is in the place of its folder"):
        undo(project, keep_copy=True)
    (project / "new.py").unlink()
    (project / "new.py").mkdir()
    with pytest.raises(ScaffoldError, match="nothing was changed"):
        undo(project, keep_copy=True)
    (project / "new.py").rmdir()
    (project / "new.py").write_text("new\n")
    assert snapshot(project, frozenset()) == before


def test_a_second_command_is_refused(project: Path) -> None:
    with locked(project):
        before = snapshot(project, frozenset())
        with pytest.raises(ScaffoldError, match="another scaffold command"), locked(project):
            pytest.fail("both are at work")
        assert snapshot(project, frozenset()) == before
    assert update(project) == []
    with pytest.raises(ZeroDivisionError), locked(project):
        _ = 1 / 0
    assert undo(project) == []


def test_no_locks_on_this_file_system(project: Path) -> None:
    error = OSError(errno.ENOLCK, "No locks available")
    with mock.patch("fcntl.flock", side_effect=error):
        assert update(project) == []


def bad_journals(good: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    whole = json.dumps(good).encode()
    yield "empty", b""
    yield "truncated", whole[:-20]
    yield "no UTF-8", whole + b"\xff"
    yield "deep", b"[" * 100_000
    yield "list", b"[]"
    yield "nothing", b"{}"
    for key, value in (("undo", "no"), ("files", {"x": 1}), ("files", 3), ("folders", ["a"])):
        yield f"{key}={value}", json.dumps(good | {key: value}).encode()
    for key, value in (
        ("path", "../x"),
        ("path", "/etc/x"),
        ("path", ".git/hooks/pre-commit"),
        ("path", ".scaffold/journal.json"),
        ("path", "out/x"),
        ("path", 1),
        ("before", 1),
        ("after", "\ud800"),
        ("after", ["x"]),
        ("modes", [None, None]),
        ("modes", [0o644, 0o4755]),
        ("modes", [0o644, True]),
        ("modes", [0o644, -1]),
        ("modes", [0o644]),
        ("modes", 3),
    ):
        files = [*good["files"], good["files"][0] | {key: value}]
        yield f"{key}={value!r}", json.dumps(good | {"files": files}).encode()
    for folder, modes in (
        ("../x", [None, 448]),
        ("out/x", [None, 448]),
        (".git/x", [448, None]),
        (".", [None, 448]),
    ):
        folders = good["folders"] | {folder: modes}
        yield folder, json.dumps(good | {"folders": folders}).encode()
    yield "bad folder", json.dumps(good | {"folders": {"x": [None, 0o4777]}}).encode()


def test_bad_journals_and_backups(project: Path, tmp_path: Path) -> None:
    update(project)
    backup, journal = project / ".scaffold/undo.json", project / ".scaffold/journal.json"
    good = json.loads(backup.read_bytes())
    assert good["files"][0]["before"] and good["files"][0]["after"]
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / "out").symlink_to(outside)
    (project / ".git/hooks").mkdir(parents=True)
    tried = 0
    for name, data in bad_journals(good):
        journal.write_bytes(data)
        before = snapshot(project, frozenset())
        with pytest.raises(ScaffoldError, match=r"journal\.json"), locked(project):
            pytest.fail(name)
        assert snapshot(project, frozenset()) == before, name
        journal.replace(backup)
        before = snapshot(project, frozenset())
        for action in (last_update, undo):
            with pytest.raises(ScaffoldError, match=r"undo\.json"):
                action(project)
        assert snapshot(project, frozenset()) == before, name
        tried += 1
    assert tried > 25
    assert list(outside.iterdir()) == []
    backup.write_text(json.dumps(good))
    undo(project)


def test_a_journal_that_is_no_file(project: Path, tmp_path: Path) -> None:
    update(project)
    (project / ".scaffold/journal.json").symlink_to("undo.json")
    with pytest.raises(ScaffoldError, match=r"journal\.json.*not a file"):
        settle(project)
    (project / ".scaffold/journal.json").unlink()
    (project / ".scaffold/journal.json").mkdir()
    with pytest.raises(ScaffoldError, match=r"journal\.json.*not a file"):
        settle(project)


def test_staged_is_a_link_that_someone_put_there(project: Path, tmp_path: Path) -> None:
    write_files(tmp_path, {"outside/file": "theirs\n"})
    (project / ".scaffold/staged").symlink_to(tmp_path / "outside")
    settle(project)
    assert not os.path.lexists(project / ".scaffold/staged")
    (project / ".scaffold/staged").symlink_to(tmp_path / "outside")
    apply_changes(project, update_of(project))
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["file"]
