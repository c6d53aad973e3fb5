"""The command line as people use it: what it accepts, refuses, prints and writes."""

import errno
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest

from scaffold import __version__
from scaffold.answers.catalog import Catalog, Option
from scaffold.answers.check import parse_text
from scaffold.answers.manifests import load_catalog
from scaffold.answers.recipes import load_recipes
from scaffold.answers.resolve import default_answers, is_on, resolve
from scaffold.cache import remember
from scaffold.commands.explain import without_and_with
from scaffold.errors import AnswerError, ScaffoldError
from scaffold.project.write import write_new
from scaffold.render.launch import launch
from scaffold.render.pages import write_page
from scaffold.render.project import render_project
from support.combinations import FIRST_TASK, fitting, in_turns
from support.command_line import Cli, Result, run_cli
from support.files import listing, read_files, write_files
from support.paths import REPOSITORY
from support.rendering import render

FEATURES = list(load_catalog().features)


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The current folder, which is empty."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


def assert_refused(result: Result, *parts: str) -> None:
    """Status 2 and one message, which has these parts."""
    assert (result.code, result.out) == (2, ""), result
    assert result.err.startswith("Error: ") and result.err.endswith("\n")
    assert len(result.err.splitlines()) == 1, result.err
    for part in parts:
        assert part in result.err, f"{part!r} is not in {result.err!r}"


# a setting, or several options, and parts of the message: every bound is tried further below
BAD_SETTINGS: dict[str, tuple] = {
    "unknown key": ("training.epoch=3", "training.epoch:", "did you mean training.epochs"),
    "unknown table": ("xyzzy.plugh=3", "xyzzy.plugh:", "--kind settings` lists them"),
    "unknown feature": ("features.emma=true", "features.emma:", "did you mean", "features.ema"),
    "no key": ("=3", "''", "no such setting"),
    "no value": ("training.epochs", "--set training.epochs", "KEY=VALUE"),
    "empty value": ("training.epochs=", "training.epochs: ''", "a whole number, at least 1"),
    "float for int": ("training.epochs=1.5", "training.epochs: '1.5'", "a whole number"),
    "beyond floats": (f"training.epochs={'9' * 400}", "training.epochs: 999", "a whole number"),
    "beyond ints": (f"training.epochs={'9' * 5000}", "training.epochs: '999", "a whole number"),
    "comma": ("training.learning_rate=0,1", "learning_rate: '0,1'", "a number, at least 1e-12"),
    "nan": ("training.learning_rate=nan", "training.learning_rate: nan", "at least 1e-12"),
    "case of a choice": ("hardware.launcher=SLURM", "hardware.launcher: 'SLURM'", "slurm"),
    "feature is no bool": ("features.ema=maybe", "features.ema.enabled: 'maybe'", "true or false"),
    "feature's choice": ("features.schedule=jump", "features.schedule.kind: 'jump'", "cosine"),
    "feature with another switch": ("features.mixed_precision=true", "mixed_precision=bf16"),
    "option of another choice": ("features.schedule.decay=0.1", "features.schedule.kind=wsd"),
    "line break": ("features.tracker.project=a\nb", r"tracker.project: 'a\nb'", "one line"),
    "bad name": ("project.name=a b", "project.name: 'a b'", "use ASCII letters"),
    "several processes on one device": (
        ["--num-processes", "2", "--distributed-type", "NO"],
        *("hardware.num_processes: 2", "hardware.distributed_type=MULTI_GPU or MULTI_CPU"),
    ),
    "several GPUs, and the CPU": (
        ["--distributed-type", "MULTI_GPU", "--use-cpu"],
        *("hardware.use_cpu: must be false", "MULTI_GPU", "=MULTI_CPU"),
    ),
    "several CPU processes, without the CPU": (
        ["--distributed-type", "MULTI_CPU", "--no-use-cpu"],
        *("hardware.use_cpu: must be true", "MULTI_CPU"),
    ),
    "file to print": (["--print", "nothing.py"], "--print nothing.py", "train.py", "README.md"),
}


@pytest.mark.parametrize("case", BAD_SETTINGS)
def test_a_bad_setting_is_refused(cli: Cli, here: Path, case: str) -> None:
    given, *parts = BAD_SETTINGS[case]
    options = ["--set", given] if isinstance(given, str) else given
    assert_refused(cli("new", "demo", "--yes", *options), *parts)
    assert listing(here) == []


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ("new demo --epochs ten", "--epochs"),
        ("new demo --unheard-of", "--unheard-of"),
        ("new", "path"),
        ("nwe demo", "nwe"),
    ],
)
def test_a_bad_command_line_is_refused(cli: Cli, here: Path, arguments: str, part: str) -> None:
    result = cli(*arguments.split())
    assert (result.code, result.out) == (2, "")
    assert "Traceback" not in result.err and result.err.count("Error") == 1
    assert part in result.err.lower() and listing(here) == []


@pytest.mark.parametrize("name", ["a b", 'q"uote', "new\nline", "{{ 7*7 }}", "é", "-x", "$(id)"])
def test_a_folder_whose_name_is_no_project_name(cli: Cli, here: Path, name: str) -> None:
    """It is refused as a name, but the folder itself may be called that."""
    result = cli("new", "--yes", "--", name)
    assert_refused(result, "after its folder", repr(name), "another name with --name")
    assert listing(here) == []
    result = cli("new", "--yes", "--name", "fine", "--", name)
    assert (result.code, result.err) == (0, "")
    assert [path.name for path in here.iterdir()] == [name]


def test_every_bound_and_choice_holds(catalog: Catalog) -> None:
    """For each setting: its bounds are allowed or not as said, and the message says them."""
    counts = {"allowed": 0, "refused": 0}

    def expect(option: Option, text: str, allowed: bool, *parts: str) -> None:
        counts["allowed" if allowed else "refused"] += 1
        if allowed:
            parse_text(option, text)
            return
        with pytest.raises(AnswerError) as caught:
            parse_text(option, text)
        assert all(part in str(caught.value) for part in (f"{option.key}: ", *parts)), caught.value

    for option in catalog.settings.values():
        if option.type == "bool":
            for word in ("true", "false", "yes", "no", "on", "off", "True"):
                expect(option, word, True)
            for word in ("1", "", "maybe"):
                expect(option, word, False, repr(word), "true or false")
        elif option.type == "choice":
            for choice in option.choices:
                expect(option, choice.value, True)
            expect(option, "nothing", False, "'nothing'", *(row.value for row in option.choices))
        elif option.type in ("int", "float"):
            expect(option, "many", False, "'many'", "number")
            if option.minimum is not None:
                expect(option, f"{option.minimum:g}", True)
                expect(option, f"{option.minimum - 1:g}", False, f"at least {option.minimum:g}")
            if option.maximum is not None:
                expect(option, f"{option.maximum:.15g}", True)
                expect(option, f"{option.maximum + 1:.15g}", False, "at most ")
            if option.above is not None:
                expect(option, f"{option.above:g}", False, f"above {option.above:g}")
            if option.below is not None:
                expect(option, f"{option.below:g}", False, f"below {option.below:g}")
        else:
            expect(option, "a\x00b", False, "printable")
    assert min(counts.values()) >= 50, counts


BAD_FILES: dict[str, tuple[bytes, list[str]]] = {
    "not TOML": (b"[training\nepochs = 3\n", ["is not valid TOML", "line 1"]),
    "not UTF-8": (b"[project]\nname = '\xff'\n", ["is not valid TOML", "utf-8"]),
    "unknown table": (b"[trainig]\nepochs = 3\n", ["trainig.epochs:", "mean training.epochs"]),
    "no table": (b"epochs = 3\n", ["epochs: ", "[training]"]),
    "unknown key": (b"[training]\nepoch = 3\n", ["training.epoch:", "mean training.epochs"]),
    "unknown feature": (b"[features.emma]\ndecay = 0.9\n", ["features.emma", "features.ema"]),
    "unknown option": (b"[features.ema]\ndecaj = 0.9\n", ["ema.decaj", "features.ema.decay"]),
    "text for int": (b"[training]\nepochs = '3'\n", ["training.epochs: '3'", "a whole number"]),
    "bool for int": (b"[training]\nepochs = true\n", ["training.epochs: True", "a whole number"]),
    "float for int": (b"[training]\nepochs = 3.0\n", ["training.epochs: 3.0", "a whole number"]),
    "int for bool": (b"[hardware]\nuse_cpu = 1\n", ["hardware.use_cpu: 1", "true or false"]),
    "int for text": (b"[project]\nname = 3\n", ["project.name: 3", "use text in quotes"]),
    "list": (b"[training]\nepochs = [3]\n", ["training.epochs: [3]", "a whole number"]),
    "beyond ints": (b"[training]\nepochs = 1" + 5000 * b"0", ["is not valid TOML", "digits"]),
    "beyond floats": (b"[training]\nepochs = 1" + 400 * b"0", ["training.epochs: 1000", "number"]),
    "nested": (b"[training.epochs]\nx = 1\n", ["training.epochs: ", "a whole number"]),
    "deep": (b"[features.ema.decay]\nx = 1\n", ["features.ema.decay: ", "a number"]),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_answers_file_is_refused(cli: Cli, here: Path, tmp_path: Path, case: str) -> None:
    content, parts = BAD_FILES[case]
    path = tmp_path / "answers.toml"
    path.write_bytes(content)
    result = cli("new", "demo", "--yes", "--answers", path)
    assert_refused(result, str(path), *parts)
    assert listing(here) == []


def test_an_answers_file_that_cannot_be_read_is_refused(cli: Cli, here: Path) -> None:
    missing = here / "missing.toml"
    assert_refused(cli("new", "demo", "--yes", "--answers", missing), str(missing), "No such file")
    assert_refused(cli("new", "demo", "--yes", "--answers", here), str(here), "it is not a file")
    assert listing(here) == []


def answers_of(result: Result) -> dict:
    assert result.code == 0, result.err
    return tomllib.loads(result.out)


def test_features_that_a_file_does_not_name_are_off(cli: Cli, here: Path) -> None:
    def features(text: str) -> dict[str, bool]:
        path = here / "answers.toml"
        path.write_text(text)
        found = answers_of(cli("new", "demo", "--answers", path, "--print", "scaffold.toml"))
        assert found["features"].keys() <= defaults.keys()
        return {name: found["features"].get(name) == {"enabled": True} for name in defaults}

    fit = fitting(load_catalog(), FIRST_TASK)
    defaults = {feature.name: feature.default for feature in fit if not feature.switch}
    off = dict.fromkeys(defaults, False)
    assert any(defaults.values()) and not all(defaults.values())
    assert features("[training]\nepochs = 3\n") == defaults
    assert features("[features]\n") == off
    assert features("[features.ema]\ndecay = 0.99\n") == off | {"ema": True}
    assert features("[features]\nema = true\n") == off | {"ema": True}
    assert features("[features]\nschedule = 'cosine'\n") == off | {"schedule": True}
    assert features("[features.schedule]\nenabled = false\nkind = 'linear'\n") == off


def test_an_option_of_a_feature_turns_it_on(cli: Cli, here: Path) -> None:
    def tables(*settings: str) -> dict:
        rows = [f"--set={setting}" for setting in settings]
        return answers_of(cli("new", "demo", *rows, "--print", "scaffold.toml"))["features"]

    assert "ema" not in tables()
    assert tables("features.ema=true")["ema"] == {"enabled": True}
    assert tables("features.ema=on")["ema"] == {"enabled": True}
    assert tables("features.ema.decay=0.9")["ema"] == {"enabled": True, "decay": 0.9}
    assert "ema" not in tables("features.ema.decay=0.9", "features.ema=false")
    assert tables("features.schedule=linear")["schedule"]["kind"] == "linear"
    assert "schedule" not in tables("features.schedule=false")
    both = tables("features.schedule=wsd", "features.schedule.decay=0.5")["schedule"]
    assert (both["kind"], both["decay"]) == ("wsd", 0.5)
    assert "decay" not in tables("features.schedule=cosine")["schedule"]
    assert listing(here) == []


def test_what_a_task_turns_on_gives_way_to_a_feature_that_was_chosen(catalog: Catalog) -> None:
    """With all choices of all tasks: nobody is told to turn off what they have not turned on."""
    usual, gone = [], set()
    for task in catalog.tasks.values():
        usual.append({"project.task": task.name})
        for option in task.options:
            beside = {key: held.values[0] for key, held in option.when.items() if held.values}
            given = {"project.task": task.name, **beside}
            usual += [{**given, option.key: choice.value} for choice in option.choices]
    against = {name for part in catalog.features.values() for name in part.conflicts}
    against |= {part.name for part in catalog.features.values() if part.conflicts}
    for answers in usual:
        for feature in map(catalog.features.__getitem__, sorted(against)):
            given = {**answers, feature.switch_key: feature.example}
            try:
                found = resolve(catalog, given)
            except AnswerError as error:
                named = re.search(r"with the feature (\w+): turn one", error.reason)
                assert not named or catalog.features[named[1]].default, (given, error.reason)
                continue
            before = default_answers(catalog, answers)
            gone |= {
                (feature.name, other.name)
                for other in catalog.features.values()
                if is_on(other, before) and not is_on(other, found)
            }
    assert gone >= {("deepspeed", "channels_last"), ("fsdp", "ema"), ("local_sgd", "ema")}
    assert not {name for _, name in gone} & {"checkpoints", "best_model", "clipping", "predict"}
    both = {"project.task": "diffusion", "features.ema.decay": 0.9, "features.local_sgd.every": 4}
    with pytest.raises(AnswerError, match="can't be combined with the feature ema: turn one"):
        resolve(catalog, both)


def test_later_sources_win(cli: Cli, here: Path) -> None:
    path = here / "answers.toml"
    path.write_text("[training]\nepochs = 3\nbatch_size = 3\nseed = 3\n")
    options = ["--epochs", "4", "--batch-size", "4", "--set", "training.epochs=5"]
    options += ["--set", "training.epochs=6"]
    found = answers_of(cli("new", "x", "--answers", path, *options, "--print", "scaffold.toml"))
    training = found["training"]
    assert (training["seed"], training["batch_size"], training["epochs"]) == (3, 4, 6)


TYPED = {
    "project.name": ["--name", "other"],
    "project.task": ["--task", "image_classification"],
    "hardware.distributed_type": ["--distributed-type", "MULTI_CPU"],
    "hardware.num_machines": ["--num-machines", "3"],
    "hardware.num_processes": ["--num-processes", "3"],
    "hardware.use_cpu": ["--use-cpu"],
    "hardware.mixed_precision": ["--mixed-precision", "bf16"],
    "hardware.launcher": ["--launcher", "torchrun"],
    "training.epochs": ["--epochs", "7"],
    "training.batch_size": ["--batch-size", "11"],
    "training.learning_rate": ["--learning-rate", "0.25"],
    "training.gradient_accumulation_steps": ["--gradient-accumulation-steps", "5"],
    "training.seed": ["--seed", "13"],
}


def test_a_typed_option_is_the_same_as_its_setting(cli: Cli) -> None:
    typed = [word for words in TYPED.values() for word in words]
    rows = [f"--set={key}={[*words, 'true'][1]}" for key, words in TYPED.items()]
    by_type = answers_of(cli("new", "demo", *typed, "--print", "scaffold.toml"))
    by_setting = answers_of(cli("new", "demo", *rows, "--print", "scaffold.toml"))
    default = answers_of(cli("new", "demo", "--print", "scaffold.toml"))
    assert by_type == by_setting
    for key in TYPED:
        table, _, name = key.partition(".")
        usual = default.get(table, {}).get(name)
        assert by_type[table][name] != usual or key == "project.task", key
    off = answers_of(cli("new", "demo", "--no-use-cpu", "--print", "scaffold.toml"))
    assert "hardware" not in off


def test_a_project_is_written_whole(cli: Cli, here: Path) -> None:
    result = cli("new", "demo", "--yes")
    assert (result.code, result.err) == (0, "")
    files = render({"project.name": "demo"})
    written = read_files(here / "demo")
    assert {name: text.encode() for name, text in files.items()}.items() <= written.items()
    assert written.keys() - files.keys() == {".scaffold/pristine.json"}
    for name in written:
        assert name in result.out
    assert f"  cd {here / 'demo'}\n" in result.out
    catalog = load_catalog()
    assert launch(catalog, resolve(catalog, {"project.name": "demo"})).train in result.out
    folders = {"demo", "demo/.scaffold", "demo/tests"}
    assert {*listing(here)} == folders | {f"demo/{name}" for name in written}


def test_files_and_folders_have_ordinary_permissions(cli: Cli, here: Path) -> None:
    before = os.umask(0o027)
    try:
        assert cli("new", "demo", "--yes").code == 0
    finally:
        os.umask(before)
    paths = [here / "demo", *here.rglob("demo/**/*")]
    assert len(paths) >= 15
    for path in paths:
        assert path.stat().st_mode & 0o777 == (0o750 if path.is_dir() else 0o640), path


@pytest.mark.parametrize("path", [".", "", "../here", "./x/.."])
def test_an_empty_folder_is_filled(cli: Cli, here: Path, path: str) -> None:
    result = cli("new", path, "--yes")
    assert (result.code, result.err) == (0, "")
    assert 'name = "here"' in (here / "pyproject.toml").read_text()
    assert f"  cd {here}\n" in result.out
    assert not [name for name in listing(here) if name.startswith(".scaffold-")]


def test_a_link_to_a_folder_is_followed(cli: Cli, here: Path) -> None:
    (here / "real").mkdir()
    (here / "link").symlink_to("real")
    assert cli("new", "link", "--yes").code == 0
    assert (here / "link").is_symlink() and (here / "real/train.py").is_file()


@pytest.mark.parametrize(
    "name", ["train.py", ".gitignore", "scaffold.toml", ".scaffold/pristine.json", "README.md"]
)
@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
def test_nothing_is_overwritten(cli: Cli, here: Path, name: str, kind: str) -> None:
    path = here / "demo" / name
    path.parent.mkdir(parents=True)
    if kind == "file":
        path.write_text("mine\n")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("nowhere")
    before = listing(here), read_files(here)
    result = cli("new", "demo", "--yes")
    assert_refused(result, str(here / "demo"), name, "nothing is overwritten")
    assert_refused(cli("new", "demo", "--dry-run"), name)
    assert (listing(here), read_files(here)) == before


def test_a_path_that_is_no_folder_is_refused(cli: Cli, here: Path) -> None:
    (here / "file").write_text("mine\n")
    (here / "loop").symlink_to("loop")
    write_files(here / "blocked", {".scaffold": "a file\n"})
    before = listing(here), read_files(here)
    assert_refused(cli("new", "file", "--yes"), str(here / "file"), "a file, not a folder")
    assert_refused(cli("new", "file/demo", "--yes"), str(here / "file"), "a file, not a folder")
    assert_refused(cli("new", "blocked", "--yes"), str(here / "blocked"), ".scaffold")
    assert_refused(cli("new", "loop", "--yes"), "loop")
    assert_refused(cli("new", "x" * 300, "--yes", "--name", "a"), "File name too long")
    assert (listing(here), read_files(here)) == before


def test_a_dangling_link_is_refused(cli: Cli, here: Path) -> None:
    """Not followed: a project would appear in a place that was not named."""
    (here / "dangling").symlink_to("nowhere")
    for path in ("dangling", "dangling/demo", "dangling/a/b"):
        result = cli("new", path, "--yes")
        assert_refused(result, str(here / "dangling"), "is a broken link")
        assert listing(here) == ["dangling"]


def plain_user() -> list[str]:
    """What makes root subject to the permissions of files."""
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if not os.geteuid() else []


@pytest.mark.parametrize("path", ["locked", "locked/demo", "locked/a/b"])
def test_a_folder_without_permission_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "locked").mkdir(mode=0o555)
    try:
        works = subprocess.run([*plain_user(), "touch", tmp_path / "locked/x"], capture_output=True)
    except FileNotFoundError:
        pytest.skip("root, without setpriv, may write everywhere")
    if works.returncode == 0:
        pytest.skip("this user may write everywhere")
    result = run_cli("new", path, "--yes", cwd=tmp_path, before=plain_user())
    refused = Result(result.returncode, result.stdout, result.stderr)
    assert_refused(refused, str(tmp_path / "locked"), "is not writable")
    assert set(listing(tmp_path)) <= {"here", "locked"}


def test_a_dry_run_lists_all_files_and_writes_none(cli: Cli, here: Path) -> None:
    shown = cli("new", "demo", "--dry-run", "--set", "features.ema=true")
    assert shown.code == 0
    assert listing(here) == []
    written = cli("new", "demo", "--yes", "--set", "features.ema=true")
    tree = [line for line in written.out.splitlines() if line.startswith(("├", "└"))]
    assert [line for line in shown.out.splitlines() if line.startswith(("├", "└"))] == tree
    assert sorted(line.split()[1] for line in tree) == sorted(read_files(here / "demo"))


@pytest.mark.parametrize("name", ["train.py", "accelerate.yaml", ".scaffold/pristine.json"])
def test_a_printed_file_is_the_written_one(cli: Cli, here: Path, name: str) -> None:
    options = ["--set", "features.ema=true", "--mixed-precision", "bf16"]
    printed = cli("new", "demo", *options, "--print", name)
    assert listing(here) == []
    assert cli("new", "demo", "--yes", *options).code == 0
    assert printed.out.encode() == (here / "demo" / name).read_bytes()


def test_features_lists_everything(cli: Cli, catalog: Catalog) -> None:
    out = cli("features").out
    rows = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    expected = [*catalog.tasks, *catalog.features, *load_recipes()]
    assert sorted(rows[: len(expected)]) == sorted(expected)
    assert len(expected) >= 40 and {"project", "hardware", "training"} <= set(rows)
    assert f"all {len(catalog.settings)} settings" in out and len(out.splitlines()) < 200
    for part in [*catalog.tasks.values(), *catalog.features.values(), *load_recipes().values()]:
        assert part.help in out
    out = cli("features", "--kind", "settings").out
    assert listed(cli, "--kind", "settings") == set(catalog.settings)
    for option in catalog.settings.values():
        assert option.comment in out
    assert not [line for line in out.splitlines() if re.search(r'"\w+"\w', line)], "no gap"


def listed(cli: Cli, *options: str) -> set[str]:
    rows = cli("features", *options).out.splitlines()
    return {row.split()[0] for row in rows if row[:2] == "  "}


def test_features_lists_what_fits(cli: Cli, catalog: Catalog) -> None:
    assert listed(cli, "--kind", "tasks") == set(catalog.tasks)
    assert listed(cli, "--kind", "recipes") == set(load_recipes())
    on = {name for name, feature in catalog.features.items() if feature.default}
    assert listed(cli, "--on") == on
    assert listed(cli, "--off") == set(FEATURES) - on
    of_gan = listed(cli, "--task", "gan")
    assert {"gan", "gan.latent", "ema", "best_model"} <= of_gan
    for name in ("own", "mnist", "unfreezing", "features.unfreezing.epochs", "own.path"):
        assert name not in of_gan
    assert listed(cli, "wandb") >= {"tracker", "features.tracker.kind"}
    assert listed(cli, "--kind", "features", "ci") == {"ci"}, "and nothing for its precision"
    assert listed(cli, "Weights", "biases") == {"tracker", "features.tracker.enabled"}
    trackers = {"features.tracker.also", "features.tracker.kind"}
    assert listed(cli, "--kind", "settings", "wandb") == trackers
    rate = [row for row in cli("features", "--task", "gan").out.splitlines() if "learning_r" in row]
    assert "0.002" in rate[0], "the default of the task"
    for options in (["zzzz"], ["--kind", "all"], ["--task", "gann"], ["--on", "zzzz"]):
        assert_refused(cli("features", *options), "features" if len(options) < 2 else options[1])


def in_terminal(columns: int, *arguments: str) -> str:
    how = {"dimensions": (24, columns), "encoding": "utf-8"}
    how["env"] = {**os.environ, "COLUMNS": "300"}  # the terminal knows better
    child = pexpect.spawn(sys.executable, ["-m", "scaffold", *arguments], **how)
    text = child.read()
    child.close()
    return str(text)


@pytest.mark.parametrize("columns", [80, 50, 200])
def test_a_list_is_as_wide_as_the_terminal(catalog: Catalog, columns: int) -> None:
    text = in_terminal(columns, "features", "--kind", "features")
    assert max(map(len, text.splitlines())) <= columns
    words = " ".join(text.split())
    for part in catalog.features.values():
        assert part.name in words and part.help in words
    rows = [line for line in in_terminal(columns, "features").splitlines() if line[:2] == "  "]
    assert max(map(len, rows)) <= columns
    assert [row.split()[0] for row in rows[: len(catalog.tasks)]] == [*catalog.tasks]


def test_the_page_of_a_recipe_tells_its_tasks(cli: Cli, catalog: Catalog) -> None:
    served = next(row for row in cli("explain", "minimal").out.splitlines() if "works with" in row)
    names = re.findall(r"`(\w+)`", served)
    assert {"image_classification", "own"} <= set(names)
    for task in catalog.tasks:
        result = cli("new", "net", "--recipe", "minimal", "--task", task, "--dry-run")
        assert (result.code == 0) == (task in names), task
    assert "works with" not in cli("explain", "mnist").out  # it names its task


@pytest.mark.parametrize("name", in_turns(FEATURES, 4))
def test_an_explanation_is_a_patch(cli: Cli, catalog: Catalog, tmp_path: Path, name: str) -> None:
    """Applied to a default project without the feature, it gives that with the feature."""
    feature = catalog.features[name]
    pair = without_and_with(catalog, feature)
    before, after = (render_project(catalog, answers, remember) for answers in pair)
    result = cli("explain", name)
    assert result.code == 0 and cli("explain", f"features.{name}").out == result.out
    assert result.out.startswith(write_page(catalog, feature))
    assert all(f"`{option.key}`" in result.out for option in feature.options)
    for tool, command in {"patch": ["patch", "-p1", "-s"], "git": ["git", "apply", "-"]}.items():
        folder = write_files(tmp_path / tool, before)
        subprocess.run(command, cwd=folder, input=result.out, text=True, check=True)
        patched = {name: text.decode() for name, text in read_files(folder).items()}
        untold = {"README.md", "scaffold.toml"}
        assert patched.keys() == after.keys()
        for file in after.keys() - untold:
            assert patched[file] == after[file], file
    assert any(before.get(file) != after[file] for file in after.keys() - untold)


@pytest.mark.parametrize("key", ["training.learning_rate", "features.ema.decay", "project.task"])
def test_a_setting_is_explained(cli: Cli, catalog: Catalog, key: str) -> None:
    option = catalog.settings[key]
    page = cli("explain", key).out
    assert page.startswith(f"# {key}\n\n{option.comment[0].upper()}{option.comment[1:]}.\n")
    assert f"--set {key}={option.default}" in page
    for choice in option.choices:
        assert f"- `{choice.value}`: {choice.help}" in page
    for short in (key.removeprefix("features."), option.name):
        if short not in ("task", "decay"):  # decay is also one of the schedule
            assert cli("explain", short).out == page


def test_the_page_of_a_setting_says_where_its_default_is_another_one(
    cli: Cli, catalog: Catalog
) -> None:
    page = cli("explain", "learning_rate").out
    assert "in the script: `Config.learning_rate`, `--learning-rate`" in page
    assert "allowed: a number, at least 1e-12" in page
    for task in catalog.tasks.values():
        default = resolve(catalog, {"project.task": task.name})["training.learning_rate"]
        own = f"default with `project.task={task.name}`: `{default}`\n"
        assert (own in page) == (default != 0.001)
    assert "project.dataset" not in page and "Config" not in cli("explain", "project.name").out
    assert "has an effect with `dataset=image_folder`" in cli("explain", PATH_KEY).out


PATH_KEY = "image_classification.path"


def test_a_choice_and_a_recipe_are_explained(cli: Cli) -> None:
    for recipe in load_recipes().values():
        page = cli("explain", recipe.name).out
        assert page.startswith(f"# {recipe.title}\n\n{recipe.help}.\n")
        assert f"`scaffold new PATH --recipe {recipe.name}`" in page
        answers = page.partition("```toml\n")[2].rpartition("```")[0]
        assert tomllib.loads(answers) == recipe.tables


MEANT = {
    ("explain", "emma"): ["'emma'", "did you mean ema?"],
    ("explain", "monitor"): ["best_model.monitor or", "early_stopping.monitor?"],
    ("explain", "zzzz"): ["'zzzz'", "`scaffold features` lists"],
    ("add", "wandb"): ["the feature tracker (features.tracker.kind=wandb)"],
    ("add", "Wandb"): ["the feature tracker (features.tracker.kind=wandb)"],
    ("add", "wanbd"): ["the feature tracker (features.tracker.kind=wandb)"],
    ("remove", "onnxruntime"): ["the feature export?"],
    ("remove", "matplotlib"): ["the feature compare or the feature confusion_matrix or the feat"],
    ("add", "adam"): ["the setting training.optimizer=adam?"],
    ("set", "ema=true"): ["did you mean features.ema?"],
    ("set", "ema.decay=0.9"): ["did you mean features.ema.decay?"],
    ("set", "tracker=wandb"): ["did you mean features.tracker?"],
    ("set", "wandb=true"): ["did you mean features.tracker.kind=wandb"],
    ("set", "features.wandb=true"): ["did you mean features.tracker.kind=wandb"],
    ("set", "timm=true"): [
        "did you mean image_classification.model=timm or object_detection.model=timm or "
        "self_supervised.encoder=timm?"
    ],
    ("set", "fsdp=true"): ["did you mean hardware.sharding=fsdp?"],
    ("set", "learning_rate=1"): ["did you mean training.learning_rate?"],
    ("set", "training.optimizer=lyon"): ["choose from adamw", "Did you mean lion?"],
    ("set", "project.task=gann"): ["choose from audio_classification", "Did you mean gan?"],
}


@pytest.mark.parametrize("case", MEANT, ids=" ".join)
def test_what_is_meant_by_a_name(cli: Cli, here: Path, case: tuple[str, str]) -> None:
    command, name = case
    result = cli("new", "demo", "--set", name) if command == "set" else cli(command, name)
    assert_refused(result, *MEANT[case])
    assert listing(here) == []


def test_the_version_and_the_commands_are_told(cli: Cli) -> None:
    assert cli("--version").out == f"scaffold {__version__}\n"
    result = cli()
    for command in ("new", "features", "explain"):
        assert re.search(rf"\b{command}\b", result.out + result.err)


def test_output_that_nobody_reads_to_the_end(tmp_path: Path) -> None:
    command = f"{shlex.quote(sys.executable)} -m scaffold explain gradient_accumulation | head -1"
    result = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert result.stderr == ""
    assert result.stdout.startswith("# Gradient accumulation")


def imported_by(tmp_path: Path, *arguments: str) -> set[str]:
    """The top-level modules that a command imports."""
    command = [sys.executable, "-X", "importtime", "-m", "scaffold", *arguments]
    env = {**os.environ, "SCAFFOLD_CACHE_DIR": str(tmp_path / "cache")}
    result = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert "Traceback" not in result.stderr
    found = re.findall(r"^import time:.*\| +([\w.]+)$", result.stderr, re.MULTILINE)
    return {name.partition(".")[0] for name in found}


@pytest.mark.every_run
@pytest.mark.parametrize("command", ["--help", "features", "new --help"])
def test_commands_import_only_what_they_need(tmp_path: Path, command: str) -> None:
    modules = imported_by(tmp_path, *command.split())
    assert {"scaffold", "typer"} <= modules and not modules & {*HEAVY, *FOR_RENDERS}


HEAVY = {"torch", "accelerate", "numpy", "sklearn"}
FOR_RENDERS = {"black", "jinja2", "questionary", "prompt_toolkit", "pyflakes"}


@pytest.mark.every_run
def test_what_was_formatted_before_is_not_formatted_again(tmp_path: Path) -> None:
    """And no command imports torch."""
    first = imported_by(tmp_path, "new", "one", "--yes", "--name", "demo")
    assert {"black", "jinja2", "pyflakes"} <= first  # what is looked for would be seen
    again = imported_by(tmp_path, "new", "two", "--yes", "--name", "demo")
    assert "jinja2" in again and not again & {"black", "pyflakes", "tomlkit"}
    assert read_files(tmp_path / "one") == read_files(tmp_path / "two")
    others = ("update one --seed 3", "doctor one --json", "check one", "explain ema")
    for modules in (first, again, *(imported_by(tmp_path, *row.split()) for row in others)):
        assert not modules & {*HEAVY, "questionary"}


def test_new_takes_little_time(tmp_path: Path) -> None:
    """Of the processor, with a wide margin for slow machines: it takes about half a second."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert run_cli("new", "demo", "--yes", cwd=tmp_path).returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 3


COMPLETE = "import sys; sys.argv = ['scaffold']; from scaffold.cli import main; main()"


def complete(line: str, shell: str = "bash", code: str = COMPLETE) -> list[str]:
    """What a shell is told at the end of a line, in which bash has spaces around each '='."""
    env = {"_SCAFFOLD_COMPLETE": f"complete_{shell}", "COMP_WORDS": line}
    env["COMP_CWORD"] = str(len(line.split(" ")) - 1)
    env |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    command, env = [sys.executable, "-c", code], {**os.environ, **env}
    result = subprocess.run(command, env=env, cwd=REPOSITORY, capture_output=True, text=True)
    assert result.stderr == ""
    return result.stdout.splitlines()


def test_the_shell_completes_commands() -> None:
    assert complete("scaffold n") == ["new"]
    assert {"new", "features", "explain"} <= set(complete("scaffold "))
    assert complete("scaffold new --mixed") == ["--mixed-precision"]


def test_the_shell_completes_names_keys_and_values(catalog: Catalog) -> None:
    tasks = sorted(catalog.tasks)
    assert complete("scaffold add em") == complete("scaffold remove --set a = b em") == ["ema"]
    assert set(complete("scaffold explain ")) >= {*tasks, *FEATURES, *load_recipes(), PATH_KEY}
    assert sorted(complete("scaffold new p --task ")) == tasks
    assert complete("scaffold new p --task = im") == ["image_classification"]
    assert sorted(complete("scaffold features --task ")) == tasks
    assert complete("scaffold features --kind r") == ["recipes"]
    assert complete("scaffold new --recipe mi") == ["minimal"]
    assert complete("scaffold new --sharding f") == ["fsdp"]
    keys = complete("scaffold new --set ")
    assert {f"{key}=" for key in catalog.settings} <= set(keys)
    assert complete("scaffold new --set training.ep") == ["training.epochs=20"]
    assert complete("scaffold update --set features.ema = ") == ["true", "false"]


@pytest.mark.parametrize("before", ["--set ", "--set = ", "--set a = b --task = gan --set "])
def test_values_are_completed_behind_the_word_break_of_bash(before: str) -> None:
    assert complete(f"scaffold new p {before}training.optimizer = l") == ["lion"]
    assert len(complete(f"scaffold new p {before}training.optimizer =")) == 7


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_show_help(catalog: Catalog, shell: str) -> None:
    found = complete("scaffold add em", shell)
    assert len(found) == 1 and "ema" in found[0] and catalog.features["ema"].help[:30] in found[0]
    found = complete("scaffold new p --set training.optimizer=s", shell)
    assert len(found) == 2, "a line each"
    assert "training.optimizer=sgd" in found[0] and "training.optimizer=sch" in found[1]


def test_completion_is_fast() -> None:
    code = f"{COMPLETE.replace('main()', '')}\ntry: main()\nexcept SystemExit: print(*sys.modules)"
    modules = complete("scaffold add em", code=code)[-1].split()
    assert "scaffold.answers.catalog" in modules
    heavy = {"torch", "black", "jinja2", "prompt_toolkit", "questionary", "yaml", "tomlkit"}
    assert not heavy & {*modules}


def test_a_real_bash_completes(tmp_path: Path) -> None:
    script = tmp_path / "scaffold"
    script.write_text(f"#!{sys.executable}\nfrom scaffold.cli import main\n\nmain()\n")
    script.chmod(0o755)
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY), "INPUTRC": os.devnull}
    env["PATH"] = f"{tmp_path}:{env['PATH']}"
    child = pexpect.spawn("bash", ["--norc", "-i"], env=env, encoding="utf-8", dimensions=(24, 200))
    child.sendline('eval "$(scaffold --show-completion bash)"; echo rea""dy')
    child.expect("ready", timeout=20)
    for typed, whole in {
        "scaffold new p --set training.optimizer=l": "training.optimizer=lion ",
        "scaffold new p --set=training.optimizer=l": "--set=training.optimizer=lion ",
        "scaffold new p --task=ga": "--task=gan ",
        "scaffold add bes": "add best_model ",
    }.items():
        child.send(f"{typed}\t")
        child.expect(re.escape(whole), timeout=20)
        child.send("\x15")  # Ctrl-U: an empty line
    child.close(force=True)


def test_data_that_is_found_here_is_found_by_the_project(cli: Cli, here: Path) -> None:
    """The path is relative to where the command runs. "Next:" says where missing data belongs."""
    task = "tabular_regression"
    write_files(here, {"data/houses.csv": "a,target\n"})
    common = ["--yes", "--task", task, "--set", f"{task}.dataset=csv", "--set"]
    result = cli("new", "work/p", *common, f"{task}.path=data/houses.csv")
    assert result.code == 0, result.err
    text = (here / "work/p/config.py").read_text(encoding="utf-8")
    assert 'path: str = "../../data/houses.csv"' in text
    assert "put the data" not in result.out
    result = cli("new", "q", *common, f"{task}.path=later.csv")
    assert 'path: str = "later.csv"' in (here / "q/config.py").read_text(encoding="utf-8")
    assert "  # put the data at later.csv: a file with one row per sample" in result.out
    full = (here / "data/houses.csv").as_posix()
    result = cli("new", "r", *common, f"{task}.path={full}")
    assert result.code == 0 and f'"{full}"' in (here / "r/config.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(("given", "expected"), [("tiny-bert", "../tiny-bert"), ("bert", "bert")])
def test_a_pretrained_model_is_a_folder_or_a_name(
    given: str, expected: str, cli: Cli, here: Path
) -> None:
    (here / "tiny-bert").mkdir()
    settings = ["model=pretrained", "dataset=csv", f"pretrained_name={given}", "path=later"]
    options = [f"--set=text_classification.{setting}" for setting in settings]
    result = cli("new", "p", "--yes", "--task", "text_classification", *options)
    assert result.code == 0, result.err
    assert f'pretrained_name: str = "{expected}"' in (here / "p/config.py").read_text()
    assert result.out.count("put the data") == 1, "of the CSV alone: a name has no place"


FILES = {"a.txt": "a\n", "b/c.txt": "c\n", "b/d/e.txt": "e\n", "f.txt": "é\n"}
CALLS = [(Path, "mkdir"), (Path, "write_text"), (Path, "rename"), (os, "link")]


def interrupt(patch: pytest.MonkeyPatch, at: int, error: BaseException, after: bool) -> list[str]:
    """Raise at one of the calls that change the disk, before or after what it does.

    Returns the calls as they are made.
    """
    made: list[str] = []

    def wrap(name: str, call: Callable) -> Callable:
        def wrapped(*args: object, **kwargs: object) -> object:
            made.append(name)
            mine = len(made) == at
            if mine and not after:
                raise error
            result = call(*args, **kwargs)
            if mine:
                raise error
            return result

        return wrapped

    for owner, name in CALLS:
        patch.setattr(owner, name, wrap(name, getattr(owner, name)))
    return made


@pytest.mark.parametrize("exists", [False, True], ids=["new folder", "existing folder"])
@pytest.mark.parametrize(
    ("error", "after"),
    [
        (OSError(28, "No space left on device"), False),
        (KeyboardInterrupt(), False),
        (KeyboardInterrupt(), True),
    ],
    ids=["full disk", "before a call", "after a call"],
)
def test_a_failure_anywhere_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exists: bool, after: bool, error: BaseException
) -> None:
    failures = whole = 0
    for at in range(1, 100):
        base = tmp_path / str(at)
        base.mkdir()
        folder = base / "x/y/z"
        if exists:
            write_files(folder, {"mine.txt": "mine\n", "b/mine.txt": "mine\n"})
        before = listing(base), read_files(base)
        with monkeypatch.context() as patch:
            made = interrupt(patch, at, error, after)
            try:
                write_new(folder, FILES, into=exists)
            except ScaffoldError as raised:
                assert isinstance(error, OSError)
                for part in (str(folder), "No space left", "nothing was written"):
                    assert part in str(raised)
            except KeyboardInterrupt:
                assert error.__class__ is KeyboardInterrupt
        if len(made) < at:
            break
        failures += 1
        if (listing(base), read_files(base)) != before:
            # only an interruption right after the rename finds it done
            assert after and not exists
            assert {name: text.decode() for name, text in read_files(folder).items()} == FILES
            assert not [name for name in listing(base) if ".scaffold-" in name]
            whole += 1
    else:
        pytest.fail("it never ended")
    assert failures >= 10 and whole <= 1
    mine = {"mine.txt", "b/mine.txt"} if exists else set()
    assert read_files(folder).keys() == FILES.keys() | mine


def test_a_folder_that_appears_meanwhile_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Path.rename

    def rename(path: Path, target: Path) -> Path:
        write_files(tmp_path / "demo", {"a.txt": "theirs\n"})
        return original(path, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(ScaffoldError, match="nothing was written"):
        write_new(tmp_path / "demo", FILES)
    assert read_files(tmp_path) == {"demo/a.txt": b"theirs\n"}


def test_a_file_that_appears_meanwhile_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = os.link

    def link(source: Path, target: Path) -> None:
        if target.name == "f.txt":
            target.write_bytes(b"theirs\n")
        original(source, target)

    (tmp_path / "demo").mkdir()
    monkeypatch.setattr(os, "link", link)
    with pytest.raises(ScaffoldError, match="nothing was written"):
        write_new(tmp_path / "demo", FILES)
    assert listing(tmp_path) == ["demo", "demo/f.txt", "here"]
    assert (tmp_path / "demo/f.txt").read_bytes() == b"theirs\n"


def test_a_file_system_without_hard_links_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(source: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    (tmp_path / "demo").mkdir()
    monkeypatch.setattr(os, "link", link)
    write_new(tmp_path / "demo", FILES)
    assert read_files(tmp_path / "demo") == {name: text.encode() for name, text in FILES.items()}


SIGNALLED = """
import os, sys
from pathlib import Path
from scaffold.cli import main

name, number = sys.argv[1], int(sys.argv[2])
owner, calls = os if name == "link" else Path, []
real = getattr(owner, name)

def call(*args, **kwargs):
    calls.append(real(*args, **kwargs))
    if len(calls) == 3:
        os.kill(os.getpid(), number)
    return calls[-1]

setattr(owner, name, call)
sys.argv = ["scaffold", "new", "parent/demo", "--yes", "--into"]
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("call", ["write_text", "link"])
def test_a_signal_while_writing_leaves_nothing(
    here: Path, number: signal.Signals, call: str
) -> None:
    if call == "link":  # files are linked into a folder that exists
        write_files(here / "parent/demo", {"mine.txt": "mine\n"})
    before = listing(here)
    result = subprocess.run(
        [sys.executable, "-c", SIGNALLED, call, str(number.value)],
        capture_output=True,
        text=True,
        # a test run in the background ignores some signals, and hands that down
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    assert result.returncode not in (0, 2)
    assert result.stdout == "" and "Traceback" not in result.stderr
    assert listing(here) == before


@pytest.mark.parametrize("name", ["~", "..", ".", "full", "full/"])
def test_a_folder_that_is_not_empty_is_refused(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (here / "full" / "inside").mkdir(parents=True)
    mine = {"notes.txt": "mine\n", "data/a.csv": "1,2\n", ".scaffold/own": "x"}
    write_files(here / "full", mine)
    (here / "full" / "link").symlink_to("nowhere")
    monkeypatch.setenv("HOME", str(here / "full"))
    inside = name in ("..", ".")
    monkeypatch.chdir(here / "full" / ("inside" if name == ".." else "") if inside else here)
    before = listing(here)
    for more in ([], ["--dry-run"]):
        result = cli("new", "--yes", *more, "--", name)
        assert_refused(result, "is not empty: it contains ", "data, inside", "--into")
    assert listing(here) == before
    assert cli("new", "--yes", "--into", "--", name).code == 0
    after = read_files(here / "full")
    assert {name: after[name].decode() for name in mine} == mine and "train.py" in after
    assert (here / "full" / "link").is_symlink()


def test_a_new_repository_counts_as_empty(cli: Cli, here: Path) -> None:
    (here / "net" / ".git").mkdir(parents=True)
    assert cli("new", "net", "--yes").code == 0


def test_a_current_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    script = 'cd gone && rmdir ../gone && exec "$0" -m scaffold new project --yes'
    command = ["bash", "-c", script, sys.executable]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 2 and "Traceback" not in result.stderr
    assert "Error: The current folder no longer exists" in result.stderr
