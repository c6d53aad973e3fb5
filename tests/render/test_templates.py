"""Faults in templates are found and named, and places are filled as said."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import black
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scaffold.answers.manifests
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.errors import TemplateError
from scaffold.render.check import check_templates
from scaffold.render.imports import merge_imports
from scaffold.render.places import Fragment, Line, compose, read_lines, read_parts
from scaffold.render.project import render_project
from support.command_line import Cli
from support.files import replace_in as edit
from support.files import write_files
from support.paths import TEMPLATES

MANIFEST = 'title = "Faulty"\nhelp = "is wrong"\ndefault = true\n'
SCRIPT = "base/complete/train.py"
OPTION = '\n[options.level]\ntype = "int"\ndefault = 3\ncomment = "how wrong"\n'
INTO = "#: into tests/test_features.py"
NAMED = "def test_the_name():\n    assert os.name\n"
READ_LEVEL = "#: slot setup\nlog(str(config.faulty_level))\n"

# what the train.py of a feature says, the line that is named, and the message
SCRIPTS: dict[str, tuple[int, str]] = {
    "import math\n\n#: slot nowhere\nprint(math.pi)\n": (
        3,
        "there is no slot 'nowhere'; there are",
    ),
    "#: replace nowhere\npass\n": (1, "there is no region 'nowhere'; there are: "),
    "#: wrap nowhere\nwith log:\n    ...  #: body\n": (1, "there is no region 'nowhere'; there"),
    "#: replace evaluate\nmetrics = {}\n...  #: keep nowhere\n": (3, "no region 'nowhere'"),
    "#: slto setup\nlog(1)\n": (1, "is not a valid place: #: slto setup"),
    "#: file\nprint('mine')\n": (1, "train.py also writes this file"),
    # in an indented slot
    '#: slot setup\nlog("short")\nlog("""one\ntwo""")\n': (3, "a string that spans several lines"),
    '#: slot setup\nlog("one\\\ntwo")\n': (2, "a string that spans several lines"),
    "import os\nimport json\n\n#: slot setup\nlog(os.name)\n": (2, "nothing uses this: import js"),
    "#: slot setup\nlog(1)\nleft_over = 3\n": (3, "local variable 'left_over' is assigned to but"),
    "#: slot setup with emaa\nlog(1)\n": (1, "there is no feature and no trait 'emaa'"),
    "#: slot setup when kindd=norm\nlog(1)\n": (1, "there is no option 'kindd'"),
    "#: slot setup when training.optimizer=adamw|sdg\nlog(1)\n": (
        *(1, "training.optimizer can't be 'sdg': it is one of adamw"),
    ),
    "#: slot setup whit ema\nlog(1)\n": (1, "'whit' is neither when, with nor without"),
    "#: slot setup with\nlog(1)\n": (1, "nothing stands behind 'with'"),
    "#: with emaa\n\n#: slot setup\nlog(1)\n": (1, "there is no feature and no trait 'emaa'"),
    "from lib.nothing import one\n\n#: slot setup\nlog(one)\n": (1, "there is no lib/nothing.py"),
    "#: slot setup\nlog(1)\nlog(missing)\n": (
        3,
        "the generated train.py: undefined name 'missing'",
    ),
    "from metrics import missing\n\n#: slot setup\nlog(missing)\n": (
        *(1, "in the generated train.py: metrics.py has no 'missing'"),
    ),
    "#: slot functions\ndef one():\n    pass\n\n\ndef one():\n    pass\n": (
        *(6, "redefinition of unused 'one'"),
    ),
    "#: slot setup\n\nlog(config.faulty_level)\n": (3, "Config has no field 'faulty_level'"),
    "#: wrap evaluate\nfor _ in range(2):\n    ...  #: body\n": (2, "only in 'with' or 'try'"),
    "#: slot setup\nlog(1)\n\n#: wrap evaluate\nwith log:\n    pass\n": (
        *(4, "a wrap needs '...  #: body' once"),
    ),
    "#: wrap evaluate\ntry:\n    ...  #: body\nfinally:\n    ...  #: body\n": (
        *(1, "a wrap needs '...  #: body' once"),
    ),
    "#: slot setup\nlog(1)\nlog({{ training.nothing | python }})\n": (3, "no attribute 'nothing'"),
    "#: slot setup\nlog({{ nothing | python }})\n": (2, "'nothing' is undefined"),
    "#: slot setup\nlog(1)\nlog({{ training. }})\n": (3, ""),
    "#: slot setup\nlog({{ training.epochs | pyton }})\n": (2, "No filter named 'pyton'"),
    "#: slot setup\nlog(1)\nlog = = 2\n": (3, "in the generated train.py: invalid syntax"),
    "import os\nimport = 3\n\n#: slot setup\nlog(os.name)\n": (
        2,
        "not valid Python: invalid syntax",
    ),
    "import os\n\nseed = 3\n\n#: slot setup\nlog(os.name)\n": (
        *(3, "only imports may stand above the first place"),
    ),
}
TEXT_OPTION = OPTION.replace('"int"\ndefault = 3', '"str"\ndefault = ""')
# the same for its feature.toml
MANIFESTS: dict[str, tuple[int, str]] = {
    'help = "is wrong"\ndefault = true\n': (1, "the field 'title' is missing"),
    'title = "Faulty"\nhelp = "is wrong"\n': (1, "the field 'default' is missing"),
    f"{MANIFEST}colour = 3\n": (4, "unknown field 'colour'"),
    f"{MANIFEST}{OPTION}": (5, "the generated config.py: nothing reads the field 'faulty_level'"),
    MANIFEST
    + OPTION.replace('comment = "how wrong"\n', ""): (
        *(5, "option 'level': the field 'comment' is missing"),
    ),
    f"{MANIFEST}{OPTION}colour = 3\n": (5, "option 'level': unknown field 'colour'"),
    MANIFEST + OPTION.replace("int", "choice"): (5, "option 'level': the default is not a choice"),
    f"{MANIFEST}after = [\n": (1, "is not valid TOML: "),
    f'{MANIFEST}after = ["ema", "nothing"]\n': (4, "there is no feature 'nothing'"),
    f'{MANIFEST}requires = ["nothing"]\n': (4, "there is no feature 'nothing'"),
    f'{MANIFEST}conflicts = ["nothing"]\n': (4, "there is no feature 'nothing'"),
    f'{MANIFEST}excludes = {{ "training.optimiser" = ["sgd"] }}\n': (
        *(4, "excludes: there is no setting 'training.optimiser'"),
    ),
    f'{MANIFEST}excludes = {{ "training.optimizer" = ["sdg"] }}\n': (
        *(4, "excludes: training.optimizer can't be 'sdg'"),
    ),
    f'{MANIFEST}needs = ["imagse"]\n': (4, "there is no trait 'imagse'"),
    f'{MANIFEST}{TEXT_OPTION}column = "clases"\n': (
        *(9, "column can't be 'clases': it is one of classes, lists"),
    ),
    f'{MANIFEST}{TEXT_OPTION}path = "folder"\n': (
        *(9, "path can't be 'folder': it is one of rows, tables"),
    ),
    f'{MANIFEST}requires = "clipping"\n': (4, "'requires' is a list"),
    f'{MANIFEST}excludes = ["training.optimizer"]\n': (4, "'excludes' is a table of lists"),
    f'{MANIFEST}defaults.training.epochs = "ten"\n': (
        *(4, "defaults: training.epochs: 'ten' is not allowed: use a whole number"),
    ),
    f'{MANIFEST}{OPTION}when = {{ kind = "norm" }}\n': (5, "option 'level': when kind: use a list"),
    f'{MANIFEST}choice = "kind"\n': (4, "'choice' is not the name of an option: kind"),
}
TESTS = f"#: slot tests\n{NAMED}"
FEATURES = [("train.py", text, *fault) for text, fault in SCRIPTS.items()]
FEATURES += [("feature.toml", text, *fault) for text, fault in MANIFESTS.items()]
FEATURES += [
    ("nothing.py", "#: slot setup\nlog(1)\n", 1, "the project has no file nothing.py"),
    ("notes.md", "#: file with emaa\n# Notes\n", 1, "there is no feature and no trait 'emaa'"),
    ("notes.md", "# Notes\n\n{{ training.nothing }}\n", 3, "has no attribute 'nothing'"),
    ("tests.py", f"import os\nimport json\n\n{INTO}\n{TESTS}", 2, "nothing uses this: import json"),
    ("tests.py", f"import os\n\n{INTO} with emaa\n{TESTS}", 3, "there is no feature and no trait"),
    (
        *("tests.py", f"import os\n\n#: into tests/nothing.py\n{TESTS}", 3),
        "the project has no file tests/nothing.py",
    ),
]


def add_feature(root: Path, name: str, files: dict[str, str]) -> None:
    write_files(root / "features" / name, {"feature.toml": MANIFEST, **files})


def render_from(root: Path) -> dict[str, str]:
    catalog = load_catalog(root)
    check_templates(catalog)
    return render_project(catalog, resolve(catalog, {"project.name": "example"}))


def assert_fault(root: Path, where: str, line: int, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        render_from(root)
    assert str(caught.value).startswith(f"{root / where}:{line}: ")
    assert message in str(caught.value)
    assert (caught.value.path, caught.value.line) == (root / where, line)


def test_the_copy_without_a_fault_renders(templates: Path) -> None:
    files = {"feature.toml": MANIFEST + OPTION, "train.py": READ_LEVEL}
    add_feature(templates, "faulty", files)
    assert "log(str(config.faulty_level))" in render_from(templates)["train.py"]


@pytest.mark.parametrize(("name", "text", "line", "message"), FEATURES)
def test_a_faulty_feature_is_named(
    templates: Path, name: str, text: str, line: int, message: str
) -> None:
    add_feature(templates, "faulty", {name: text})
    assert_fault(templates, f"features/faulty/{name}", line, message)


def test_a_circle_of_features_is_named(templates: Path) -> None:
    add_feature(templates, "one", {"feature.toml": MANIFEST + 'after = ["two"]\n'})
    add_feature(templates, "two", {"feature.toml": MANIFEST + 'after = ["three"]\n'})
    add_feature(templates, "three", {"feature.toml": MANIFEST + '\nafter = ["one"]\n'})
    with pytest.raises(TemplateError, match="'after' contains a cycle") as caught:
        render_from(templates)
    error = caught.value
    assert error.path.name == "feature.toml" and error.path.parent.name in ("one", "two", "three")
    assert error.path.read_text().splitlines()[error.line - 1].startswith("after")
    # the circle is told from any of its features on, in the order of `after`
    for start, end in (("one", "two"), ("two", "three"), ("three", "one")):
        assert re.search(rf"{start} -> {end}|{start}$", str(error)), str(error)


def test_two_replacements_of_a_region_are_named(templates: Path) -> None:
    add_feature(templates, "faulty_1", {"train.py": "#: replace evaluate\nmetrics = {}\n"})
    fragment = "import os\n\n#: replace evaluate\nmetrics = {os.name: 1.0}\n"
    add_feature(templates, "faulty_2", {"train.py": fragment})
    other = templates / "features/faulty_1/train.py"
    message = f"region 'evaluate' is already replaced in {other}:1"
    assert_fault(templates, "features/faulty_2/train.py", 3, message)


def test_one_file_of_two_features_is_named(templates: Path) -> None:
    add_feature(templates, "faulty_1", {"notes.md": "one\n"})
    add_feature(templates, "faulty_2", {"notes.md": "two\n"})
    first = templates / "features/faulty_1/notes.md"
    assert_fault(templates, "features/faulty_2/notes.md", 1, f"{first} also writes this file")


OWN, IMAGES = "tasks/own/task.toml", "tasks/image_classification/task.toml"
REVIEWS = "tasks/text_classification/task.toml"
# a file, what is changed in it, and the message, which names the first line that is new
CHANGED = [
    (
        OWN,
        'metric = "val_loss"',
        'metric = "val_los"',
        "'val_los' is not measured: error, loss are",
    ),
    (OWN, 'metric = "val_loss"', 'metric = "vaal_loss"', "'vaal_loss' is of no set"),
    (OWN, 'metric = "test_error"', 'metric = "test_eror"', "'test_eror' is not measured"),
    (OWN, "has = [", 'has = ["sound", ', "there is no trait 'sound'"),
    (OWN, "epochs = 10", "epoch = 10", "defaults: there is no setting 'training.epoch'"),
    (OWN, "training.epochs = 10", "training.epochs = 0", "training.epochs: 0 is not allowed"),
    (REVIEWS, "epochs = 8", "epohcs = 8", "choice 'reviews': defaults: there is no setting"),
    ("tasks/own/app.py", "#: slot shown", "#: slot none", "there is no slot 'none'; there are: "),
    ("tasks/options.toml", "[dropout]\n", "[dropout]\ncolour = 3\n", "unknown field 'colour'"),
    ("tasks/options.toml", "[dropout]\n", "[dropuot]\n", "no task has an option 'dropuot'"),
    (IMAGES, 'lacks = ["res', 'lakcs = ["res', "choice 'mlp' of image_classification.model: un"),
]


@pytest.mark.parametrize(("name", "old", "new", "message"), CHANGED)
def test_a_faulty_change_is_named(
    templates: Path, name: str, old: str, new: str, message: str
) -> None:
    edit(templates / name, old, new)
    assert_fault(templates, name, line_of(templates / name, new.splitlines()[0]), message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('value = "cnn"\n', "", "option 'model': a choice has no value: {'help"),
        ('help = "a small conv', 'halp = "a small conv', "the field 'help' is"),
    ],
)
def test_a_faulty_choice_is_named(templates: Path, old: str, new: str, message: str) -> None:
    edit(templates / IMAGES, old, new)
    assert_fault(templates, IMAGES, line_of(templates / IMAGES, "[options.model]"), message)


def test_an_option_that_is_not_usual_is_told_which_are(templates: Path) -> None:
    """[options.NAME] alone is enough only for those of tasks/options.toml."""
    manifest = templates / "tasks/own/task.toml"
    manifest.write_text(manifest.read_text() + "\n[options.path]\n")
    line = line_of(manifest, "[options.path]")
    message = "option 'path': the field 'default' is missing; tasks/options.toml has only dataset, "
    assert_fault(templates, "tasks/own/task.toml", line, message)


def test_a_module_without_the_slot_of_the_library_is_named(templates: Path) -> None:
    model = templates / "tasks/own/model.py"
    torch = "from torch import nn\n"
    edit(model, torch, f"{torch}\nfrom lib.standardize import Standardize\n")
    edit(model, "nn.Sequential(", "nn.Sequential(Standardize(torch.rand(9, 4)), ")
    catalog = load_catalog(templates)
    answers = resolve(catalog, {"project.name": "example", "project.task": "own"})
    with pytest.raises(TemplateError, match=r"there is no slot 'standardize' in model\.py; "):
        render_project(catalog, answers)


def test_a_choice_that_lacks_a_value_is_named(templates: Path) -> None:
    """With the manifest, beside the line that asks for the value."""
    manifest = templates / "tasks/image_classification/task.toml"
    edit(manifest, 'images = "images, shape (batch, 1, 28, 28)"\n', "")
    catalog = load_catalog(templates)
    given = {"project.name": "example", "image_classification.dataset": "mnist"}
    with pytest.raises(TemplateError, match="the task has no 'images'") as caught:
        render_project(catalog, resolve(catalog, given))
    assert f"{manifest} or its choice dataset=mnist or its choice model=cnn" in str(caught.value)
    text = caught.value.path.read_text().splitlines()[caught.value.line - 1]
    assert "task.images" in text


def test_a_task_without_a_model_is_named(templates: Path) -> None:
    (templates / "tasks/own/model.py").unlink()
    assert_fault(templates, "tasks/own/task.toml", 1, "the task has no model.py")


def test_a_task_without_the_lines_that_a_feature_needs_is_named(templates: Path) -> None:
    """Those that others share do not count where their condition, of the whole file, is another."""
    (templates / "tasks/own/predict.py").unlink()
    message = (
        "predict needs the slot 'batches' of predict.py from the task: fill it in own/predict."
    )
    assert_fault(templates, "tasks/own/task.toml", 1, message)


def test_lines_for_files_that_a_task_can_not_have_are_named(templates: Path) -> None:
    edit(templates / "tasks/own/task.toml", ', "predicts"', "")
    message = "projects of own can't have evaluate.py (evaluate.py:1), predict.py (predict.py:1), "
    assert_fault(templates, "tasks/own/evaluate.py", 1, message)
    with pytest.raises(TemplateError, match="or add 'predicts' to `has`"):
        render_from(templates)
    for name in ("app.py", "evaluate.py", "predict.py", "tests.py"):
        (templates / "tasks/own" / name).unlink()
    assert "train.py" in render_from(templates)


def line_of(path: Path, text: str) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


def test_a_region_without_an_end_is_named(templates: Path) -> None:
    script = templates / SCRIPT
    edit(script, "        #: end evaluate\n", "")
    line = line_of(script, "#: region evaluate")
    assert_fault(templates, SCRIPT, line, "'evaluate' has no '#: end evaluate'")


def test_a_long_string_in_a_wrapped_region_is_named(templates: Path) -> None:
    script = templates / SCRIPT
    region = '#: region banner\nprint("a")\nprint("""one\ntwo""")\n#: end banner\n'
    edit(script, 'if __name__ == "__main__":', f'{region}if __name__ == "__main__":')
    render_from(templates)
    fragment = "#: wrap banner\ntry:\n    ...  #: body\nfinally:\n    pass\n"
    add_feature(templates, "faulty", {"train.py": fragment})
    load_catalog.cache_clear()
    line = line_of(script, 'print("""one')
    assert_fault(templates, SCRIPT, line, "a string that spans several lines")


def test_a_fault_in_a_task_or_the_base_is_named(templates: Path) -> None:
    task = next(templates.glob("tasks/*/task.toml"))
    where = task.relative_to(templates).as_posix()
    text = task.read_text()
    for field in ("metric", "target", "hub_task"):
        load_catalog.cache_clear()
        task.write_text(re.sub(rf"^{field} = .*\n", "", text, flags=re.MULTILINE))
        assert_fault(templates, where, 1, f"the field '{field}' is missing")
    task.write_text(text)
    base = templates / "base/base.toml"
    base.write_text(base.read_text() + '\n[options.x]\ntype = "int"\ndefault = 1\ncomment = "x"\n')
    line = line_of(base, "[options.x]")
    load_catalog.cache_clear()
    assert_fault(templates, "base/base.toml", line, "option 'x': the field 'table' is missing")


def test_the_command_line_shows_a_fault(
    templates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    add_feature(templates, "faulty", {"train.py": "\n#: slot nowhere\nlog(1)\n"})
    monkeypatch.setattr(scaffold.answers.manifests, "template_root", lambda: templates)
    load_catalog.cache_clear()
    try:
        result = cli("new", tmp_path / "demo", "--yes")
    finally:
        load_catalog.cache_clear()
    assert (result.code, result.out) == (2, "")
    fragment = templates / "features/faulty/train.py"
    assert result.err.startswith(f"Error: {fragment}:2: there is no slot 'nowhere'")
    assert len(result.err.splitlines()) == 1 and not (tmp_path / "demo").exists()


def test_features_come_after_those_they_name_then_by_alphabet(templates: Path) -> None:
    for name, after in {"zz_1": [], "aa_1": ["zz_1"], "aa_2": [], "zz_2": []}.items():
        add_feature(templates, name, {"feature.toml": f"{MANIFEST}after = {after}\n"})
    order = list(load_catalog(templates).features)
    own = [name for name in order if name[:2] in ("aa", "zz")]
    assert own == ["aa_2", "zz_1", "aa_1", "zz_2"]
    for name, feature in load_catalog(templates).features.items():
        assert all(order.index(other) < order.index(name) for other in feature.after)


def test_the_catalog_is_that_of_the_folders(templates: Path) -> None:
    catalog = load_catalog(templates)
    folders = {path.parent.name for path in templates.glob("*/*/feature.toml")}
    assert set(catalog.features) == folders and len(folders) >= 12
    assert set(catalog.tasks) == {path.name for path in templates.glob("tasks/*/")}
    manifests = [path for path in templates.rglob("*.toml") if path.name != "pyproject.toml"]
    rows = sum(len(tomllib.loads(path.read_text()).get("options", {})) for path in manifests)
    assert rows == sum(len(component.options) for component in catalog.components) >= 20


Compose = Callable[..., str]


@pytest.fixture
def put(tmp_path: Path) -> Compose:
    """The text that a base and fragments give."""

    def put(base: str, *fragments: str) -> str:
        files = {"base.py": base} | {f"{n}.py": text for n, text in enumerate(fragments)}
        write_files(tmp_path, files)
        paths = [tmp_path / f"{number}.py" for number in range(len(fragments))]
        parts = [Fragment(*read_parts(read_lines(path))) for path in paths]
        lines = compose(read_lines(tmp_path / "base.py"), parts)
        for line in lines:  # each knows where it comes from
            if line.text.strip():
                origin = line.path.read_text().splitlines()[line.number - 1]
                assert line.text.strip() == origin.strip()
        return "".join(f"{line.text}\n" for line in lines)

    return put


def test_a_slot_takes_all_fragments_in_their_order(put: Compose) -> None:
    base = "if a:\n    b()\n    #: slot here\n    c()\n"
    first, second = "#: slot here\none()\nif x:\n    two()\n", "#: slot here\n\nthree()\n\n"
    assert put(base) == "if a:\n    b()\n    c()\n"
    assert put(base, first, second) == (
        "if a:\n    b()\n    one()\n    if x:\n        two()\n\n    three()\n    c()\n"
    )
    assert put(base, second, first) == (
        "if a:\n    b()\n\n    three()\n    one()\n    if x:\n        two()\n    c()\n"
    )


def test_a_slot_as_a_statement(put: Compose) -> None:
    base = "if a:\n    ...  #: slot here\n"
    assert put(base, "#: slot here\none()\n") == "if a:\n    one()\n"
    assert put(base) == "if a:\n"


def test_a_slot_can_be_in_a_file_twice(put: Compose) -> None:
    base = "#: slot here\nif a:\n    #: slot here\n    b()\n"
    assert put(base, "#: slot here\none()\n") == "one()\nif a:\n    one()\n    b()\n"


def test_fragments_at_the_top_level_are_apart(put: Compose) -> None:
    fragments = [f"#: slot here\ndef {name}():\n    pass\n" for name in "ab"]
    assert put("#: slot here\n", *fragments) == "def a():\n    pass\n\n\ndef b():\n    pass\n"


def test_a_replacement_and_what_it_keeps(put: Compose) -> None:
    base = (
        "if a:\n    #: region outer\n    for x in y:\n        #: region inner\n        b(x)\n"
        "        if c:\n            d()\n        #: end inner\n        e()\n    #: end outer\n"
        "    f()\n"
    )
    plain = "if a:\n    for x in y:\n        b(x)\n        if c:\n            d()\n"
    plain += "        e()\n    f()\n"
    assert put(base) == plain
    replaced = put(base, "#: replace outer\nwhile z:\n    g()\n    ...  #: keep inner\n")
    kept = "        b(x)\n        if c:\n            d()\n    f()\n"
    assert replaced == f"if a:\n    while z:\n        g()\n{kept}"
    both = put(base, "#: replace outer\n...  #: keep inner\n", "#: replace inner\nh()\n")
    assert both == "if a:\n    h()\n    f()\n"
    wrap = "#: wrap inner\nwith z:\n    ...  #: body\n"
    wrapped = put(base, "#: replace outer\n...  #: keep inner\n", wrap)
    assert wrapped == f"if a:\n    with z:\n{kept}"
    inner = put(base, "#: replace inner\nh()\n")
    assert "h()" in inner and "e()" in inner


def test_a_slot_inside_a_kept_region(put: Compose) -> None:
    base = "#: region outer\na()\n#: region inner\nb()\n#: slot here\n#: end inner\n#: end outer\n"
    parts = ["#: replace outer\n...  #: keep inner\n", "#: slot here\nc()\n"]
    assert put(base, *parts) == "b()\nc()\n"


def test_the_first_wrap_is_outermost(put: Compose) -> None:
    base = "#: region here\na()\n#: slot in_it\n#: end here\nb()\n"
    wraps = [f"#: wrap here\nwith {name}:\n    ...  #: body\n" for name in ("one", "two")]
    inside = "#: slot in_it\nc()\n"
    assert put(base, *wraps, inside) == "with one:\n    with two:\n        a()\n        c()\nb()\n"
    assert put(base, *reversed(wraps)) == "with two:\n    with one:\n        a()\nb()\n"
    around = "#: wrap here\ntry:\n    ...  #: body\nfinally:\n    c()\n"
    assert put(base, around) == "try:\n    a()\nfinally:\n    c()\nb()\n"
    replacement = "#: replace here\nd()\n"
    assert put(base, wraps[0], replacement) == "with one:\n    d()\nb()\n"
    with pytest.raises(TemplateError, match="there is no slot 'in_it'"):
        put(base, replacement, inside)  # nothing is dropped in silence


def test_a_region_that_depends_on_a_slot(put: Compose) -> None:
    base = "a()\n#: region here if inside is filled\nif b:\n    ...  #: slot inside\n#: end here\n"
    base += "c()\n"
    assert put(base) == "a()\nc()\n"
    assert put(base, "#: slot inside\nd()\n") == "a()\nif b:\n    d()\nc()\n"
    # a feature may fill a place that is there only beside another feature
    base = "a()\n#: region here if other is filled\n#: slot inside\n#: end here\n#: slot other\n"
    inside, other = "#: slot inside\nb()\n", "#: slot other\nc()\n"
    assert put(base, inside) == "a()\n"
    assert put(base, inside, other) == "a()\nb()\nc()\n"
    with pytest.raises(TemplateError, match="nowhere"):
        put(base, "#: slot nowhere\nd()\n")


def test_lines_of_a_slot_that_are_further_left_are_refused(put: Compose) -> None:
    with pytest.raises(TemplateError, match="indented less"):
        put("if a:\n    #: region here\n    b()\nc()\n    #: end here\n", "#: replace here\nd()\n")


def test_a_long_string_may_stand_where_nothing_moves(put: Compose) -> None:
    fragment = '#: slot here\ndef a():\n    """One.\n\n    Two.\n    """\n'
    assert put("#: slot here\n", fragment) == fragment.removeprefix("#: slot here\n")


STATEMENTS = [
    *["import math", "import os", "import os.path", "import json as js", "import sys"],
    *["from collections.abc import Iterable, Iterator", "from collections import Counter"],
    *["from pathlib import Path", "from contextlib import nullcontext, contextmanager"],
    *["import torch", "import torch.nn.functional as F", "import numpy as np", "import yaml"],
    *["from torch import nn, Tensor", "from torch.optim import SGD, AdamW, lr_scheduler"],
    *["from accelerate import Accelerator", "from accelerate.utils import set_seed"],
    *["from accelerate.utils import DistributedType, find_batch_size, broadcast"],
    *["from PIL import Image", "from safetensors.torch import load_model, save_model"],
    *["from torchvision.models import resnet18, resnet101, ResNet, VGG16_Weights"],
    *["from torch.nn import functional as F, Linear", "from torch.nn import Module, init"],
    *["from model import build_model", "from callbacks import Ema, stop_on_nan, BestModel"],
    *["import data", "from checkpoint import Progress, MAX_KEPT, save_checkpoint, load_weights"],
    "from checkpoint import find_checkpoints, save_checkpoint, remaining_batches, resume_run",
]
LOCAL = {"model", "callbacks", "data", "checkpoint"}


def merge(statements: Sequence[str]) -> str:
    blocks = [[Line(row, Path("x.py"), 1)] for row in statements]
    return "".join(f"{line.text}\n" for line in merge_imports(blocks, LOCAL))


def names_of(text: str) -> set[str]:
    """What code imports, a name each."""
    import ast

    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {f"{alias.name} as {alias.asname}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name} as {alias.asname}" for alias in node.names}
    return found


def test_imports_are_merged_as_ruff_sorts_them(tmp_path: Path) -> None:
    """Any statements in any order: one ruff for all of them."""
    write_files(tmp_path, {f"{name}.py": "" for name in LOCAL})
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100\n")
    count = 0

    @settings(max_examples=150, deadline=None, database=None, derandomize=True)
    @given(st.lists(st.sampled_from(STATEMENTS), min_size=1))
    def write_merged(statements: list[str]) -> None:
        nonlocal count
        text = merge(statements)
        assert names_of(text) == names_of("\n".join(statements))
        count += 1
        text = black.format_str(f"{text}\nx = 1\n", mode=black.Mode(line_length=100))
        (tmp_path / f"example_{count}.py").write_text(text)

    write_merged()
    assert count >= 100
    (tmp_path / "unsorted.py").write_text("import os\nimport json\n")
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--select=I", tmp_path]
    result = subprocess.run([*command, "--output-format=concise"], capture_output=True, text=True)
    faulty = set(re.findall(r"^(.*?):\d+:\d+: I001", result.stdout, re.MULTILINE))
    assert {Path(path).name for path in faulty} == {"unsorted.py"}, result.stdout + result.stderr


def origins(blocks: list[list[Line]]) -> list[tuple[str, str, int]]:
    return [(line.text, line.path.name, line.number) for line in merge_imports(blocks, ())]


def test_an_import_keeps_its_origin(tmp_path: Path) -> None:
    blocks = [
        [Line("import os", tmp_path / "a.py", 4), Line("import re", tmp_path / "a.py", 5)],
        [Line("import re", tmp_path / "b.py", 1), Line("import ast", tmp_path / "b.py", 2)],
    ]
    assert origins(blocks) == [
        ("import ast", "b.py", 2),
        ("import os", "a.py", 4),
        ("import re", "a.py", 5),
    ]


def test_a_name_in_a_long_import_keeps_its_origin(tmp_path: Path) -> None:
    names = [f"a_name_that_is_long_{letter}" for letter in "abcd"]
    own = Line(f"from metrics import {', '.join(names)}", tmp_path / "a.py", 4)
    more = Line("from metrics import a_name_of_another", tmp_path / "b.py", 2)
    assert origins([[own], [more]]) == [
        ("from metrics import (", "a.py", 4),
        ("    a_name_of_another,", "b.py", 2),
        *((f"    {name},", "a.py", 4) for name in names),
        (")", "a.py", 4),
    ]


def definitions(text: str) -> list[str]:
    """The functions and classes at the left of a template, but heads, and those with places in."""
    found = re.findall(r"^(?:@.*\n)*(?:async def|def|class)\b.*\n(?:(?:[ )\]}].*)?\n)*", text, re.M)
    return [f"{part.rstrip()}\n" for part in found if not re.search(r"\{[{%#]|#: |:\s*\Z", part)]


@pytest.mark.sweep  # in every run, black looks at projects
def test_definitions_are_formatted() -> None:
    """`render/format.py` leaves them as they are."""
    mode = black.Mode({black.TargetVersion.PY311}, line_length=100)
    seen = 0
    for path in TEMPLATES.rglob("*.py"):
        for part in definitions(path.read_text(encoding="utf-8")):
            assert black.format_str(part, mode=mode) == part, path
            seen += 1
    assert seen >= 300


def test_the_tests_of_a_project_build_with_their_settings() -> None:
    """A bare Config() has the model of the answers, and the tests train a smaller one."""
    for path in sorted([*TEMPLATES.rglob("tests/*.py"), *TEMPLATES.rglob("tests.py")]):
        bare = re.findall(r"build_\w+\(train\.Config\((?!\*\*).*", path.read_text())
        assert bare == [], path


def test_nobody_is_told_to_load_pickles() -> None:
    """Neither by a script nor by a page: `weights_only=False` runs what a file holds."""
    for path in sorted(TEMPLATES.rglob("*")):
        if path.is_file() and path.suffix not in (".png", ".pyc"):
            text = path.read_text().replace(" ", "")
            assert "weights_only=False" not in text, path
