"""Tasks and features as folders: traits, choices, defaults of a task, its versions of a feature."""

import shutil
from itertools import combinations
from pathlib import Path

import pytest

from scaffold.answers.catalog import Catalog, Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.questions import Interview, make_question
from scaffold.answers.resolve import Answers, applies, default_answers, is_on, resolve
from scaffold.errors import AnswerError, TemplateError
from scaffold.render.project import render_project
from support.command_line import Cli
from support.files import read_files, write_files

TASK = """
title = "Other"
help = "is another task"
has = ["one_optimizer"]
metrics = ["loss", "accuracy"]
batch = "inputs, targets"
usage = "model(inputs)"
result = "the outputs"
hub_task = "other"
subject = "something else"
metric = "val_accuracy"
higher_is_better = true
target = "an accuracy of 0.5"
goal = { metric = "test_accuracy", minimum = 0.5 }

[defaults.training]
epochs = 3

[defaults.features.clipping]
enabled = false

[options.model]
type = "choice"
default = "small"
question = "Which model?"
comment = "what model.py builds"
config = false

[[options.model.choices]]
value = "small"
help = "a small one"

[[options.model.choices]]
value = "large"
help = "a large one"
subject = "something large"
dependencies = ["numpy>=2"]

[options.width]
type = "int"
default = 7
comment = "of the model"
when = { model = ["large"] }
"""


@pytest.fixture
def other(templates: Path) -> Path:
    """The templates with a second task, which is like the first but has no images."""
    folder = shutil.copytree(templates / "tasks/own", templates / "tasks/other")
    train = "#: slot setup when model=large\nlog(str(config.width))\n"
    write_files(folder, {"task.toml": TASK, "large/train.py": train})
    return templates


def given_other(**more: object) -> Answers:
    given = {"project.name": "example", "project.task": "other"}
    return {**given, **{key.replace("__", "."): value for key, value in more.items()}}


def test_a_task_has_defaults_of_its_own(other: Path) -> None:
    catalog = load_catalog(other)
    answers = resolve(catalog, given_other())
    assert answers["training.epochs"] == 3 != resolve(catalog, {})["training.epochs"]
    assert not is_on(catalog.features["clipping"], answers)
    assert resolve(catalog, given_other(training__epochs=5))["training.epochs"] == 5


def test_options_of_a_task_exist_with_it_alone(other: Path) -> None:
    catalog = load_catalog(other)
    options = catalog.settings
    key = "other.model"
    assert applies(catalog, options[key], resolve(catalog, given_other()))
    assert not applies(catalog, options[key], resolve(catalog, {}))
    with pytest.raises(AnswerError, match=r"only with project\.task=other"):
        resolve(catalog, {key: "large"})
    with pytest.raises(AnswerError, match=r"only with other\.model=large"):
        resolve(catalog, given_other(other__width=3))


def test_what_a_task_does_not_say_of_a_shared_setting_stands_in_options(other: Path) -> None:
    """Also of its choices; what it says counts."""
    manifest = other / "tasks/other/task.toml"
    rows = (
        '\n[options.dropout]\ndefault = 0.25\n\n[options.labels]\ncomment = "what is predicted"\n'
    )
    rows += '\n[[options.labels.choices]]\nvalue = "one"\nhelp = "just one"\n'
    rows += '\n[[options.labels.choices]]\nvalue = "many"\nmetric = "val_loss"\n'
    manifest.write_text(manifest.read_text() + rows)
    task = load_catalog(other).tasks["other"]
    dropout = task.option("dropout")
    assert (dropout.default, dropout.minimum, dropout.finer) == (0.25, 0, True)
    assert dropout.question == "How much dropout? (0: off)"
    one, many = task.option("labels").choices
    assert (one.value, one.help) == ("one", "just one")
    assert many.help == "any number of labels, including none"
    assert many.values["metric"] == "val_loss" and many.lacks == ("labels",)


CHOICE = '\n[[options.model.choices]]\nvalue = "larger"\nhelp = "larger still"\n'


def test_a_choice_is_like_another_one(other: Path) -> None:
    """It has what that one has, unless it says something else."""
    manifest = other / "tasks/other/task.toml"
    text = manifest.read_text()
    manifest.write_text(f'{text}{CHOICE}like = "large"\nsubject = "something larger"\n')
    large, larger = load_catalog(other).tasks["other"].option("model").choices[1:]
    assert larger.dependencies == large.dependencies == ("numpy>=2",)
    assert (larger.value, larger.help) == ("larger", "larger still")
    assert larger.values == {**large.values, "subject": "something larger"}
    manifest.write_text(f'{text}{CHOICE}like = "lage"\n')
    load_catalog.cache_clear()
    with pytest.raises(TemplateError, match="'larger' is like 'lage', which is no choice above it"):
        load_catalog(other)


@pytest.mark.parametrize(
    ("rows", "kind", "pattern", "allowed"),
    [
        ("default = 3", "int", "", ""),
        ("default = 3.0", "float", "", ""),
        ("default = false", "bool", "", ""),
        ('default = "a"', "str", "", ""),
        ('path = "rows"\ndefault = "a.csv"', "str", ".+", "a path"),
        ('path = "hub"\ndefault = "a/b"', "str", ".+", "a name or a path"),
        ('path = "rows"\ndefault = ""', "str", "", ""),
        ('column = "classes"\ndefault = "a"', "str", ".+", "the name of a column"),
        ('column = "classes"\ndefault = "a"\npattern = ""', "str", "", ""),
    ],
)
def test_an_option_is_what_its_default_is(
    rows: str, kind: str, pattern: str, allowed: str, other: Path
) -> None:
    manifest = other / "tasks/other/task.toml"
    manifest.write_text(f'{manifest.read_text()}\n[options.x]\n{rows}\ncomment = "x"\n')
    option = load_catalog(other).settings["other.x"]
    assert (option.type, option.pattern, option.allowed) == (kind, pattern, allowed)


def test_a_choice_brings_code_dependencies_and_words(other: Path) -> None:
    catalog = load_catalog(other)
    small = render_project(catalog, resolve(catalog, given_other()))
    large = render_project(catalog, resolve(catalog, given_other(other__model="large")))
    assert "width" not in small["train.py"] and "numpy" not in small["pyproject.toml"]
    assert "width: int = 7" in large["config.py"] and "log(str(config.width))" in large["train.py"]
    assert '"numpy>=2"' in large["pyproject.toml"]
    assert small["train.py"].startswith('"""Train something else')
    assert large["train.py"].startswith('"""Train something large')
    assert "[other]" in large["scaffold.toml"] and 'model = "large"' in large["scaffold.toml"]


def test_a_feature_that_does_not_fit_is_refused_with_the_reason(other: Path) -> None:
    catalog = load_catalog(other)
    with pytest.raises(AnswerError) as refused:
        resolve(catalog, given_other(features__augmentation__enabled=True))
    assert "which other does not have" in str(refused.value)
    assert "image_classification" in str(refused.value)
    answers = resolve(catalog, given_other(features__augmentation__enabled=False))
    files = render_project(catalog, answers)
    assert "augmentation" not in files["scaffold.toml"]
    assert catalog.features["predict"].default and "predict.py" not in files


def test_a_task_can_have_its_own_version_of_code_of_a_feature(other: Path) -> None:
    code = "#: slot setup\n#: region usual\nlog('the usual version')\n#: end usual\n"
    write_files(other / "features/stop_on_nan/more", {"train.py": code})
    own = "#: replace usual with stop_on_nan\nlog('its own version')\n"
    write_files(other / "tasks/other/own_version", {"train.py": own})
    catalog, on = load_catalog(other), {"features.stop_on_nan.enabled": True}
    files = render_project(catalog, resolve(catalog, {**given_other(), **on}))
    assert "its own version" in files["train.py"] and "the usual" not in files["train.py"]
    usual = render_project(catalog, resolve(catalog, {"project.name": "example", **on}))
    assert "its own version" not in usual["train.py"] and "the usual" in usual["train.py"]


def test_a_task_can_have_its_own_version_of_a_file(other: Path) -> None:
    write_files(other / "tasks/other", {"weights.py": "#: file\nsave_weights = print\n"})
    catalog, off = load_catalog(other), {"features.metrics_file.enabled": False}
    files = render_project(catalog, resolve(catalog, {**given_other(), **off}))
    assert files["weights.py"] == "save_weights = print\n"


def test_a_choice_of_another_task_changes_no_default(catalog: Catalog) -> None:
    given = {"text_classification.model": "pretrained"}
    usual = default_answers(catalog, {})
    assert default_answers(catalog, given) == usual
    beside = default_answers(catalog, {"project.task": "text_classification", **given})
    assert beside["training.learning_rate"] == 5e-5 < usual["training.learning_rate"]


def test_a_later_question_shows_the_default_of_a_choice(catalog: Catalog) -> None:
    interview = Interview(catalog, {"project.task": "text_classification"}, remembered={})
    assert make_question(interview, "training.learning_rate").default == "0.001"
    key = "text_classification.model"
    interview.answer(make_question(interview, key), {key: "pretrained"})
    assert make_question(interview, "training.learning_rate").default == "5e-05"


@pytest.mark.parametrize(
    ("task", "choice", "rate"),
    [
        ("text_classification", "text_classification.model=pretrained", "5e-05"),
        ("image_classification", "training.optimizer=sgd", "0.05"),
    ],
)
def test_a_default_follows_from_a_choice_that_is_given_later(
    task: str, choice: str, rate: str, cli: Cli, tmp_path: Path
) -> None:
    """What its owner has set stays."""
    for name, more, expected in (("usual", [], rate), ("own", ["--learning-rate", "0.01"], "0.01")):
        project = tmp_path / name
        assert cli("new", project, "--yes", "--task", task, *more).code == 0
        assert cli("update", project, "--set", choice).code == 0
        assert f"learning_rate: float = {expected} " in (project / "config.py").read_text()


def test_the_learning_rate_follows_the_optimizer(catalog: Catalog) -> None:
    """The optimizer is asked for first. Its factor multiplies the default of the task."""
    rate, decay, optimizer = (
        f"training.{name}" for name in ("learning_rate", "weight_decay", "optimizer")
    )
    keys = list(catalog.settings)
    assert keys.index(optimizer) < keys.index(rate) < keys.index(decay)
    assert "depends on the optimizer" in catalog.settings[rate].question
    sgd = {optimizer: "sgd"}
    usual = resolve(catalog, {})
    assert resolve(catalog, sgd)[rate] == 50 * usual[rate] == 0.05
    assert resolve(catalog, sgd)[decay] < usual[decay]
    assert resolve(catalog, {**sgd, rate: 0.02})[rate] == 0.02
    pretrained = {"project.task": "text_classification", "text_classification.model": "pretrained"}
    assert resolve(catalog, {**sgd, **pretrained})[rate] == 0.0025
    assert resolve(catalog, {optimizer: "lion"})[rate] < usual[rate]
    assert resolve(catalog, {**sgd, "project.task": "gan"})[rate] == 0.02  # 0.1 diverges


def test_conditions_know_yes_or_no_and_texts(other: Path) -> None:
    own = "#: slot setup with data_loading when features.data_loading.persistent_workers=true\n"
    own += "log('yes')\n"
    write_files(other / "tasks/other/loading", {"train.py": own})
    catalog = load_catalog(other)
    on = given_other(features__data_loading__enabled=True)
    assert 'log("yes")' not in render_project(catalog, resolve(catalog, on))["train.py"]
    given = {**on, "features.data_loading.persistent_workers": True}
    assert 'log("yes")' in render_project(catalog, resolve(catalog, given))["train.py"]
    on = given_other(features__early_stopping__enabled=True)
    assert "reached" not in render_project(catalog, resolve(catalog, on))["train.py"]
    given = {**on, "features.early_stopping.threshold": "0.5"}
    assert "reached" in render_project(catalog, resolve(catalog, given))["train.py"]


def test_code_for_two_features_is_there_only_beside_both(other: Path) -> None:
    code = (
        "#: slot setup with schedule\nlog('both')\n"
        "#: slot setup when persistent_workers=true with schedule\nlog('all three')\n"
        "#: slot setup without schedule\nlog('alone')\n"
    )
    write_files(other / "features/data_loading/more", {"train.py": code})
    catalog = load_catalog(other)

    def rendered(**given: Value) -> str:
        return render_project(catalog, resolve(catalog, given_other(**given)))["train.py"]

    loading = {"features__data_loading__enabled": True}
    off = rendered(features__data_loading__enabled=False)
    assert 'log("both")' not in off and 'log("alone")' not in off
    alone = rendered(**loading, features__schedule__enabled=False)
    assert 'log("both")' not in alone and 'log("alone")' in alone
    assert 'log("both")' in rendered(**loading) and "three" not in rendered(**loading)
    more = {"features__data_loading__persistent_workers": True}
    assert 'log("all three")' in rendered(**loading, **more)


def test_every_setting_of_a_script_has_a_comment_and_limits(catalog: Catalog) -> None:
    """The comment is its help text; the limits are checked when the script starts."""
    checked = 0
    for option in catalog.settings.values():
        if option.config:
            assert option.comment and "\n" not in option.comment, option.key
            assert option.above is None and option.below is None, f"{option.key}: no such limits"
            if option.type in ("int", "float") and option.minimum == 0:
                assert option.default >= 0, option.key  # type: ignore[operator]
            checked += 1
    assert checked >= 60


def test_every_setting_says_what_0_means(catalog: Catalog) -> None:
    """Where 0 is allowed: it must not train nothing, or something else, without a word."""
    numbers = [
        option
        for option in catalog.settings.values()
        if option.config and option.type in ("int", "float") and option.minimum is not None
    ]
    assert len(numbers) > 60
    counted = {"training.seed", "features.cross_validation.fold"}  # 0 is one like all others
    for option in numbers:
        if option.minimum <= 0 and option.key not in counted:
            assert "0: " in option.comment, option.key


def test_no_two_settings_have_the_same_field(catalog: Catalog) -> None:
    fields = {"output_dir", "resume", "limit_batches"}
    for task in catalog.tasks:
        options = [
            option
            for option in catalog.settings.values()
            if option.config and (not option.task or option.task == task)
        ]
        for one, other in combinations(options, 2):
            exclusive = any(
                not set(one.when[key].values) & set(other.when[key].values)
                for key in one.when.keys() & other.when
            )
            assert one.field != other.field or exclusive, f"{one.key} and {other.key}"
        assert fields.isdisjoint(option.field for option in options), task


def test_another_task_of_an_edited_project_is_refused(cli: Cli, tmp_path: Path) -> None:
    project = tmp_path / "project"
    assert cli("new", project, "--yes").code == 0
    with (project / "model.py").open("a") as file:
        file.write("# mine\n")
    before = read_files(project)
    result = cli("update", project, "--task", "own")
    assert result.code == 2
    assert "because you edited model.py" in result.err
    assert read_files(project) == before


def test_another_task_of_a_project_without_edits_is_that_of_a_new_one(
    cli: Cli, tmp_path: Path
) -> None:
    assert cli("new", tmp_path / "new", "--yes", "--task", "own", "--name", "same").code == 0
    updated = tmp_path / "updated"
    assert cli("new", updated, "--yes", "--name", "same", "--set", "training.seed=0").code == 0
    result = cli("update", updated, "--task", "own")
    assert result.code == 0, result.err
    for path in (tmp_path / "new").iterdir():
        if path.is_file():
            assert (updated / path.name).read_text() == path.read_text(), path.name
