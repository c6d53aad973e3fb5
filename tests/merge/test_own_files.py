"""Updates of projects with files that a merge can't take for the generated ones, or can't read."""

import re
from pathlib import Path

import pytest

from scaffold.errors import ScaffoldError
from scaffold.merge.conflicts import find_leftovers
from scaffold.merge.source.parse import parse
from scaffold.project.encoding import decode, encode, encoding_of
from support.command_line import Cli
from support.files import read_files, replace_in


@pytest.fixture
def project(cli: Cli, tmp_path: Path) -> Path:
    assert cli("new", tmp_path / "digits", "--yes").code == 0
    return tmp_path / "digits"


# a file of the owner's has the name of one that an update brings

NAMESAKES = {
    "train.sbatch": (
        "#!/bin/bash\npython train.py\n",
        "hardware.launcher=slurm",
        "train.new.sbatch",
    ),
    "train.ipynb": ('{"cells": []}\n', "hardware.launcher=notebook", "train.new.ipynb"),
    "Dockerfile": (
        "FROM python\nRUN pip install x\n",
        "hardware.launcher=trainjob",
        "Dockerfile.new",
    ),
    "mixing.py": ("def mine():\n    return 1\n", "features.mixing.enabled=true", "mixing_new.py"),
    "callbacks_test.txt": ("mine\n", "features.ema.enabled=true", ""),  # not a namesake
}


@pytest.mark.parametrize("name", NAMESAKES)
def test_a_namesake_stays_as_it_is(cli: Cli, project: Path, name: str) -> None:
    own, setting, place = NAMESAKES[name]
    (project / name).write_text(own)
    result = cli("update", project, "--set", setting)
    assert (project / name).read_text() == own
    assert result.code == (1 if place else 0), result.out
    if place:
        assert f"{name}: is your own file" in result.out and place in result.out
        assert (project / place).is_file()
    assert cli("update", project).code == 0, "it was said once"
    assert cli("undo", project).code == 0
    assert (project / name).read_text() == own and not (place and (project / place).exists())


def test_a_module_beside_its_namesake_is_imported_by_its_own_name(cli: Cli, project: Path) -> None:
    (project / "mixing.py").write_text("def mine():\n    return 1\n")
    build = "\n\ndef build_schedule"
    replace_in(project / "train.py", build, f"\nfrom mixing import mine\n{build}")
    assert cli("add", "mixing", project).code == 1
    code = (project / "train.py").read_text()
    assert "from mixing_new import blend, mix\n" in code and "from mixing import mine\n" in code
    assert "from mixing_new import mix\n" in (project / "tests" / "test_features.py").read_text()
    assert cli("remove", "mixing", project).code == 0
    assert not (project / "mixing_new.py").exists()
    assert (project / "mixing.py").read_text() == "def mine():\n    return 1\n"
    assert "mixing_new" not in (project / "train.py").read_text()


def test_a_package_of_that_name_stays_too(cli: Cli, project: Path) -> None:
    (project / "mixing").mkdir()
    (project / "mixing" / "__init__.py").write_text("")
    result = cli("add", "mixing", project)
    assert result.code == 1 and "mixing.py: is your own package" in result.out
    assert "from mixing_new import blend, mix\n" in (project / "train.py").read_text()


def test_a_module_beside_its_namesake_is_what_tests_replace(cli: Cli, project: Path) -> None:
    (project / "preemption.py").write_text("SIGNALS = []\n")
    assert cli("add", "preemption", project).code == 1
    assert 'setattr("preemption_new.SIGNALS"' in (project / "tests/conftest.py").read_text()


@pytest.mark.parametrize("kept", ["own", "generated"])
def test_the_owner_chooses_one_of_two_namesakes(cli: Cli, project: Path, kept: str) -> None:
    own = "#!/bin/bash\npython train.py\n"
    (project / "train.sbatch").write_text(own)
    assert cli("update", project, "--set", "hardware.launcher=slurm").code == 1
    if kept == "own":
        (project / "train.new.sbatch").unlink()
    else:
        (project / "train.new.sbatch").replace(project / "train.sbatch")
    result = cli("update", project, "--set", "hardware.num_processes=4")
    assert result.code == 0, result.out + result.err
    assert ((project / "train.sbatch").read_text() == own) == (kept == "own")
    assert cli("update", project, "--set", "hardware.launcher=accelerate").code == 0
    assert (project / "train.sbatch").exists() == (kept == "own")


def test_a_namesake_with_the_same_text_is_the_generated_file(cli: Cli, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert cli("new", tmp_path / name, "--yes", "--name", "net").code == 0
    assert cli("add", "mixing", tmp_path / "one").code == 0
    text = (tmp_path / "one" / "mixing.py").read_text()
    (tmp_path / "two" / "mixing.py").write_text(text.replace("\n", "\r\n"), newline="")
    assert cli("add", "mixing", tmp_path / "two").code == 0
    assert not (tmp_path / "two" / "mixing_new.py").exists()


# what other encodings and syntax say


def in_latin_1(project: Path) -> None:
    path = project / "train.py"
    text = path.read_text().replace("import time\n", "import time  # Maß\n")
    path.write_bytes(f"# -*- coding: latin-1 -*-\n{text}".encode("latin-1"))


def test_a_file_keeps_its_encoding(cli: Cli, project: Path) -> None:
    in_latin_1(project)
    given = ("--gradient-accumulation-steps", "4", "--set", "features.ema.enabled=true")
    result = cli("update", project, *given)
    assert result.code == 0, result.out
    text = (project / "train.py").read_bytes().decode("latin-1")
    assert "import time  # Maß\n" in text
    # what only a merge of statements can do: lines of the loop are deeper now, and imports joined
    assert "                loss = compute_loss(model(images), labels).mean()\n" in text
    assert "import GradientAccumulationPlugin, broadcast_object_list, set_seed\n" in text
    assert cli("undo", project).code == 0
    assert "Ema(" not in (project / "train.py").read_bytes().decode("latin-1")


def test_a_character_that_an_encoding_lacks_is_refused() -> None:
    stored = "# -*- coding: latin-1 -*-\nx = '\udcdf'\n"
    encoding = encoding_of("a.py", stored)
    assert decode(stored, encoding).endswith("'ß'\n")
    assert encode("a.py", decode(stored, encoding), encoding) == stored
    with pytest.raises(ScaffoldError, match="its encoding iso-8859-1 has no '→'"):
        encode("a.py", "x = '→'\n", encoding)


@pytest.mark.parametrize(
    "stored", ["# coding: utf-8\n", "# coding: nonsense\n", "# coding: ascii\n\udcff\n", "x\n"]
)
def test_an_encoding_that_does_not_fit_changes_nothing(stored: str) -> None:
    assert encoding_of("a.py", stored) == "utf-8"


NEWER = {
    "type statement": "type Pair[T] = tuple[T, T]\n",
    "type parameters": "def first[T](\n    values: list[T],\n) -> T:\n    return values[0]\n",
    "class": "class Box[T]:\n    value: T\n",
    "nested quotes": 'def show(d):\n    return f"{d["a"]:>{d["b"]}} {f"{d["c"]}"}" "x"\n',
    "except": "try:\n    SAFE = 1\nexcept ValueError, TypeError:\n    SAFE = 2\n",
    "template": 'def greet(name):\n    return t"Hello {name}"\n',
}


@pytest.mark.parametrize("name", NEWER)
def test_newer_syntax_is_read(cli: Cli, project: Path, name: str) -> None:
    """Whichever version of Python runs scaffold."""
    replace_in(project / "train.py", "def build_optimizer", f"{NEWER[name]}\n\ndef build_optimizer")
    result = cli("update", project, "--gradient-accumulation-steps", "4")
    assert result.code == 0, result.out
    text = (project / "train.py").read_text()
    assert NEWER[name] in text
    assert "                loss = compute_loss(model(images), labels).mean()\n" in text


@pytest.mark.parametrize(
    "text", ["x = (\n", "print 'x'\n", "<<<<<<< a\n", "x = 'a\n", "\0", "\udce9 = 1\n"]
)
def test_what_no_python_can_read_is_refused(text: str) -> None:
    with pytest.raises(SyntaxError):
        parse(text)


def test_lines_keep_their_numbers() -> None:
    text = 'def f[\n    T\n](x: T):\n    s = f"""{x["a"]}\n{\n    x["b"]}"""\n    here = s\n'
    tree = parse(text)
    assert tree.body[0].body[-1].lineno == 7  # type: ignore[attr-defined]


# merged by lines


def test_lines_are_merged_where_code_is_broken_and_that_is_said(cli: Cli, project: Path) -> None:
    replace_in(project / "train.py", "= build_model(config)", "= build_model(config")
    result = cli("add", "ema", project)
    assert result.code == 1
    assert re.search(r"train.py:\d+: is not valid Python, so .* merged line by line", result.out)
    text = (project / "train.py").read_text()
    assert "= build_model(config\n" in text and text.count("ema.update()") == 1


@pytest.mark.parametrize(
    "marker", ["<<<<<<< HEAD", ">>>>>>> theirs", "||||||| base", "<<<<<<<", "======="]
)
def test_a_marker_left_by_git_is_refused(cli: Cli, project: Path, marker: str) -> None:
    replace_in(project / "config.py", "    weight_decay", f"{marker}\n    weight_decay")
    before = read_files(project)
    result = cli("add", "ema", project)
    assert result.code == 1
    assert f"config.py:31  a leftover marker of another conflict: {marker}" in result.err
    assert read_files(project) == before
    status = cli("status", project).out
    assert f"config.py:31: a leftover marker of another conflict: {marker}" in status


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", 'TEXT = """\n<<<<<<< HEAD\n"""\n'),
        ("README.md", "    git writes\n\n<<<<<<< HEAD\n"),
        ("a.py", "x = 1 <<  2\n"),
    ],
)
def test_not_every_marker_is_left_over(path: str, text: str) -> None:
    assert find_leftovers(path, text) == []
