"""Files and lines that a project can't use: what it says of each, and that it does nothing else."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from support.training import ask, said

Bad = Mapping[str, tuple[str | bytes | None, str]]  # the content of a file, and what is said of it


def refuse_files(folder: Path, bad: Bad, read: str) -> list[tuple[str, str]]:
    """The name of each file with what is said of it by this function of the project."""
    for name, (content, _) in bad.items():
        if content is not None:
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    code = f"""
said = []
for name in {list(bad)}:
    try:
        {read}(train.Config(path=name))
    except SystemExit as stop:
        said.append(str(stop))
"""
    messages: list[str] = ask(folder, code, "said")
    for message, (_, expected) in zip(messages, bad.values(), strict=True):
        assert expected in message, message
    return list(zip(bad, messages, strict=True))


def refuse_lines(
    project: Path, lines: Sequence[str], bad: Mapping[str, tuple[str, str]], *others: Sequence[str]
) -> list[str]:
    """What train.py says of other arguments, beside files that end with one of these lines each.

    Nothing is trained.
    """
    calls = []
    for number, (wrong, _) in enumerate(bad.values()):
        (project / f"{number}.jsonl").write_text("\n".join([*lines, wrong]) + "\n")
        calls.append(["--path", f"{number}.jsonl", "--output-dir", "runs/other"])
    messages = said(project, "train.py", *calls, *others)
    assert not (project / "runs/other").exists()
    for number, (_, expected) in enumerate(bad.values()):
        assert messages[number].startswith(f"{number}.jsonl, {expected}"), messages[number]
    return messages[len(bad) :]


def refuse_flags(
    project: Path, expected: Mapping[tuple[str, ...], str], script: str = "train.py"
) -> None:
    """How the message begins with which a script ends, for each of these flags.

    Nothing is trained.
    """
    more = ["--output-dir", "runs/other"] if script == "train.py" else []
    messages = said(project, script, *([*flags, *more] for flags in expected))
    for message, beginning in zip(messages, expected.values(), strict=True):
        assert beginning and message.startswith(beginning), message
    assert not (project / "runs/other").exists()


def refuse_paths(project: Path, expected: Mapping[str, str], flag: str = "--path") -> None:
    """The same for the values of a flag."""
    refuse_flags(project, {(flag, name): beginning for name, beginning in expected.items()})
