"""What is kept between commands: used where it is whole, and never in the way."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from scaffold import cache
from scaffold.cache import remember
from scaffold.errors import TemplateError
from scaffold.render import format as finish
from scaffold.render.places import Line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SCAFFOLD_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def values(*texts: str) -> Iterator[str]:
    yield from texts


def test_a_text_is_made_once(folder: Path) -> None:
    made = values("ä\r\n\nb", "second", "of another key")
    assert remember("key", lambda: next(made)) == "ä\r\n\nb"
    assert remember("key", lambda: next(made)) == "ä\r\n\nb"
    assert remember("other", lambda: next(made)) == "second"
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("damage", [b"", b"\xff", b"x\ntext", "cut"])
def test_a_damaged_file_is_made_again(folder: Path, damage: bytes | str) -> None:
    assert remember("key", lambda: "text of some length") == "text of some length"
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage if isinstance(damage, bytes) else whole[:-1])
    assert remember("key", lambda: "text of some length") == "text of some length"
    assert file.read_bytes() == whole


def test_a_folder_that_cannot_be_used(folder: Path) -> None:
    folder.write_text("a file\n")
    made = values("first", "second")
    assert remember("key", lambda: next(made)) == "first"
    assert remember("key", lambda: next(made)) == "second"
    assert folder.read_text() == "a file\n"


def test_the_oldest_are_forgotten(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LIMIT", 3)
    folder.mkdir()
    others = [folder / f"own{number}.txt" for number in range(5)]
    for file in others:
        file.write_text("of the user\n")
    for key in "abcdef":
        remember(key, lambda key=key: key)
    assert all(file.exists() for file in others)
    assert len(list(folder.iterdir())) == 3 + len(others)
    made = values("again")
    assert remember("f", lambda: next(made)) == "f"
    assert remember("a", lambda: next(made)) == "again"


def test_another_black_formats_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line("x = {{ value }}", Path("template.py"), 1)
    assert finish.finish("a.py", "x = 'a'\n", [line], remember) == 'x = "a"\n'
    monkeypatch.setattr(finish, "_format", lambda text: "formatted\n")
    assert finish.finish("a.py", "x = 'a'\n", [line], remember) == 'x = "a"\n'
    monkeypatch.setattr(finish, "black_version", lambda: "99")
    assert finish.finish("a.py", "x = 'a'\n", [line], remember) == "formatted\n"


def test_what_stands_in_a_template_is_left_as_it_is() -> None:
    line = Line("x = 'a'", Path("template.py"), 1)
    assert finish.finish("a.py", "x = 'a'\n", [line], finish.make_anew) == "x = 'a'\n"


def test_a_fault_is_said_each_time(folder: Path) -> None:
    line = Line("x = y", Path("template.py"), 1)
    for _ in range(2):
        with pytest.raises(TemplateError, match="undefined name 'y'"):
            finish.finish("a.py", "x = y\n", [line], remember)
    assert not folder.exists()
