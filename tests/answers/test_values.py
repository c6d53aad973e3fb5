"""No answer becomes code: values are literals in whatever they are written into."""

import ast
import json
import math
import re
import shlex
import string
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from scaffold.answers.catalog import Catalog
from scaffold.answers.check import check, find_option, parse_setting
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import Answers, can_fit, resolve
from scaffold.commands.new import next_steps
from scaffold.errors import AnswerError
from scaffold.project.write import write_new
from scaffold.render.project import build_project
from scaffold.render.values import build_environment
from support.combinations import in_turns, needed_for, required_by
from support.files import flatten
from support.rendering import render

HARMLESS = "harmless-7f3a"  # in no template
# the name of what is monitored is not free: it is one of those that are logged
TEXTS = [
    option.key
    for option in load_catalog().settings.values()
    if option.type == "str"
    and option.name != "monitor"
    and option.key not in ("tpu.commands", "tpu.tpu_vm", "tpu.tpu_env")  # lists, with commas
    and (option.pattern in ("", ".+") or option.key == "project.name")
]
HOSTILE = [
    *["a'b", 'a"b', "a'b\"c", "'''", '"""', '""" + x + """'],
    *["\\", "a\\", '\\"', "\\'", "\\n", "\\N{x}"],
    *["{{ 7*7 }}", "{{ training.epochs }}", "{% raw %}", "{#", "#}", "{x}", "{", "}}", "{0}", "%s"],
    *["#: slot setup", "# comment", "  # noqa", "...  #: body", "#: end evaluate"],
    *["$(touch x)", "`id`", "${HOME}", "~", "a;b", "a|b", "a&b", "a>b", "a*b", "!x", "--yes", "-"],
    *["a: b", "- a", "? a", "&a", "*a", "!!python/object:os.system", "%YAML", "---", "...", "|"],
    ">",
    *["yes", "no", "null", "~", "true", "1", "1.5", "1e3", "0x1F", ".inf", "2020-01-01", "=", "<<"],
    *["", " ", " a ", "a ", "é", "项目", "🙂", "👩‍👩‍👧", "ﬁ", "a\u0301"],
    *["a\nb", "a\rb", "a\tb", "\x00", "\x1b[31m", "\x7f", "\u2028", "\u202ea", "\ufeff", "\ud800"],
    *["a" * 200, "word " * 60 + "end", "'" * 90, '"' * 90, "\\" * 90, "{{" * 60],
    *["'; import os; os.system('x'); '", '"); import os; ("', "config.seed", "__import__('os')"],
]
PRINTABLE = [text for text in HOSTILE if text.isprintable()]
APART = 18  # settings share the printable texts among them
ALPHABET = st.sampled_from("'\"\\{}%#:$`()[]<>|&;*?!~=-_. abz019\n\t\x00é项🙂\u2028\u202e\ud800")
hostile_text = st.text(ALPHABET, max_size=30) | st.text(max_size=20) | st.sampled_from(HOSTILE)


def tried(examples: int, **more: Any) -> settings:
    return settings(max_examples=examples, deadline=None, database=None, derandomize=True, **more)


def project(key: str, value: str) -> Answers:
    """Few features, so that it renders fast, but the one that the setting belongs to."""
    catalog = load_catalog()
    answers: Answers = {"project.name": "example"}
    for feature in catalog.features.values():
        if not feature.switch:
            answers[f"features.{feature.name}.enabled"] = False
    if key.startswith("features."):
        feature = catalog.features[key.split(".")[1]]
        for name in [feature.name, *required_by(catalog, feature)]:
            answers[f"features.{name}.enabled"] = True
    return answers | needed_for(catalog, key) | {key: value}


def assert_same_tree(one: Any, two: Any, value: str) -> int:
    """That the trees differ only where one has the harmless text, and two the value: how often."""
    if one == HARMLESS:
        assert two == value
        return 1
    assert type(one) is type(two)
    if isinstance(one, ast.AST):
        one = {name: getattr(one, name, None) for name in one._fields}
        two = {name: getattr(two, name, None) for name in two._fields}
    if isinstance(one, dict):
        assert list(one) == list(two)
        return sum(assert_same_tree(one[name], two[name], value) for name in one)
    if isinstance(one, list):
        assert len(one) == len(two)
        return sum(assert_same_tree(*pair, value) for pair in zip(one, two, strict=True))
    if isinstance(one, str) and HARMLESS in one:  # inside other text, such as the settings' copy
        assert one.replace(HARMLESS, value) == two
        return 1
    assert one == two
    return 0


def read_shell(text: str) -> list[str | list[str]]:
    """The words of a script, and those of the command that it puts together for others."""
    words = shlex.split(text, comments=True)
    return [shlex.split(word) if word.startswith("steps") else word for word in words]


READERS: dict[str, Callable[[str], Any]] = {
    ".py": ast.parse,
    ".toml": tomllib.loads,
    ".yaml": yaml.safe_load,
    ".json": json.loads,
    ".sh": read_shell,
}


@pytest.mark.parametrize("key", in_turns(TEXTS, 8))
def test_a_text_stays_a_text(key: str) -> None:
    seen: Counter[str] = Counter()
    harmless = render(project(key, HARMLESS))

    @tried(3, suppress_health_check=list(HealthCheck))
    @given(hostile_text)
    def check_text(value: str) -> None:
        option = find_option(load_catalog(), key)
        if (not value and option.accelerate) or value == option.default:
            return  # which leaves the key out of accelerate.yaml, or out of scaffold.toml
        try:
            files = render(project(key, value))
        except AnswerError as error:
            assert error.key == key and repr(value) in str(error)
            seen["refused"] += 1
            return
        seen["accepted"] += 1
        assert files.keys() == harmless.keys()
        for name, text in files.items():
            read = READERS.get(Path(name).suffix)
            if read:
                seen["literals"] += assert_same_tree(read(harmless[name]), read(text), value)
            else:
                assert harmless[name].replace(HARMLESS, value) == text
            if name.endswith((".toml", ".yaml", ".md")):
                assert len(text.splitlines()) == len(harmless[name].splitlines())

    refused = [text for text in HOSTILE if not text.isprintable()]
    mine = PRINTABLE[TEXTS.index(key) % APART :: APART]  # the filters below take all of them
    for text in [*refused, *mine]:
        check_text = example(text)(check_text)
    check_text = example("fine")(check_text)
    check_text()
    assert seen["refused"] >= 10 and seen["accepted"] >= 1, seen
    assert seen["literals"] >= 2 * seen["accepted"], seen
    if not find_option(load_catalog(), key).pattern:
        assert seen["accepted"] >= len(mine), seen


def test_there_are_texts(catalog: Catalog) -> None:
    assert {"project.name", "features.tracker.project"} <= set(TEXTS)
    assert len(TEXTS) >= 2 * APART  # each printable text is tried with two settings or more
    assert not [text for text in HOSTILE if HARMLESS in text]


@pytest.mark.parametrize("value", PRINTABLE)
def test_the_pristine_copy_holds_the_text(catalog: Catalog, value: str) -> None:
    answers = resolve(catalog, project("project.name", "example"))
    answers["features.tracker.project"] = value
    # the copy alone, without rendering: what is in it must be what was given
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scaffold.render.project.render_project", lambda *_: {"a.txt": value})
        copy = json.loads(build_project(catalog, answers)[".scaffold/pristine.json"])
    assert copy["answers"] == answers
    assert copy["files"] == {"a.txt": value}


FILTERS = build_environment().filters
printable = st.text(max_size=60).filter(str.isprintable) | st.sampled_from(PRINTABLE)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()
values = printable | numbers


def same(one: object, two: object) -> bool:
    return (type(one), one) == (type(two), two)


def read_toml(text: str) -> object:
    read = tomllib.loads(f"a = 1\nkey = {text}  # comment\n[b]\n")
    assert read["b"] == {}
    return read["key"]


READ_BACK: dict[str, Callable[[str], object]] = {
    "python": ast.literal_eval,
    "yaml": lambda text: yaml.safe_load(f"a: 1\nkey: {text}\nz: 2\n")["key"],
    "toml": read_toml,
}


@pytest.mark.parametrize("name", READ_BACK)
@tried(500)
@given(values)
@example("word " * 5000)
@example("...")
def test_a_value_is_read_back(name: str, value: object) -> None:
    text = FILTERS[name](value)
    assert len(text.splitlines()) == 1
    assert same(READ_BACK[name](text), value)


NUMBERS: Answers = {
    "training.epochs": 10**18,
    "training.learning_rate": 1.7e308,
    "training.weight_decay": 5e-324,
    "features.ema.decay": 0.999999,
    "features.early_stopping.min_delta": math.nextafter(1, 0),
}


def test_numbers_go_through_a_project() -> None:
    """Of any size and precision: they are read back from Config and the settings."""
    files = render(NUMBERS)
    written = flatten(tomllib.loads(files["scaffold.toml"]))
    for key, number in NUMBERS.items():
        assert same(written[key], number), key
        row = rf"(?m)^    {find_option(load_catalog(), key).field}: \w+ = (\S+)"
        [value] = re.findall(row, files["config.py"])
        assert same(ast.literal_eval(value), number), key


@tried(300)
@given(st.text(max_size=40) | st.sampled_from(TEXTS).map(lambda key: f"{key}=") | hostile_text)
def test_any_setting_is_taken_or_refused(setting: str) -> None:
    """Never another exception."""
    from scaffold.errors import ScaffoldError

    try:
        parse_setting(load_catalog(), setting)
    except ScaffoldError as error:
        assert str(error)


@tried(300)
@given(
    st.sampled_from(sorted(load_catalog().settings)),
    st.text(max_size=20)
    | st.text(string.digits + ".eE+-_", max_size=30)
    | st.integers(10**300, 10**320).map(str),
)
def test_any_value_is_taken_or_refused(key: str, text: str) -> None:
    catalog = load_catalog()
    try:
        found, value = parse_setting(catalog, f"{key}={text}")
    except AnswerError as error:
        assert error.key == key
    else:
        assert found == key
        assert same(check(find_option(catalog, key), value), value)


@tried(200)
@given(
    st.sampled_from(sorted(load_catalog().settings)),
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**300, 10**400)
    | st.floats()
    | st.lists(st.integers(), max_size=2)
    | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2)
    | hostile_text,
)
def test_any_object_is_taken_or_refused(key: str, value: object) -> None:
    """As it may stand in an answers file."""
    option = find_option(load_catalog(), key)
    try:
        taken = check(option, value)
    except AnswerError as error:
        assert error.key == key
    else:
        assert type(taken).__name__ == {"choice": "str"}.get(option.type, option.type)
        assert taken == value


def test_a_shell_goes_to_a_folder_with_a_hostile_name(tmp_path: Path) -> None:
    import subprocess

    catalog = load_catalog()
    answers = resolve(catalog, {"project.name": "example"})
    count = 0
    for name in HOSTILE:
        usable = name.strip(".") and not set(name) & {"/", "\x00", "\ud800"}
        if not usable or len(name.encode()) > 200:
            continue
        folder = tmp_path / str(count) / name
        write_new(folder, {"mark.txt": name})
        command = next_steps(catalog, folder, answers)[1] + " && cat mark.txt"
        result = subprocess.run(["sh", "-c", command], capture_output=True, check=True)
        assert result.stdout.decode() == name
        count += 1
    assert count >= 60


def follow(catalog: Catalog, message: str, given: Answers) -> Answers | None:
    """The answers after the advice of a refusal, or None if it gives none in names."""
    advice = message.partition(": ")[2]
    settings = re.findall(r"(?:set|and|on with) ([\w.]+)=([\w.-]+\w)", advice)
    if settings:
        return given | {key: {"true": True, "false": False}.get(v, v) for key, v in settings}
    tasks = re.search(r"turn it off, or use (\w+)", advice)
    if tasks and tasks[1] in catalog.tasks:
        return given | {"project.task": tasks[1]}
    return None


def test_the_advice_of_a_refusal_leads_to_no_refusal_of_the_same_kind() -> None:
    catalog = load_catalog()
    followed = 0
    for task in catalog.tasks.values():
        for feature in catalog.features.values():
            given = {"project.task": task.name, feature.switch_key: feature.example}
            refusals: list[str] = []
            while given is not None:
                try:
                    resolve(catalog, {"project.name": "example", **given})
                    break
                except AnswerError as error:
                    message = str(error)
                assert message not in refusals, "the advice leads in a circle"
                assert "does not have" not in message or not refusals, "another task that lacks it"
                refusals.append(message)
                if "another task" in message:
                    others = [t for t in catalog.tasks.values() if can_fit(feature, t)]
                    assert len(others) >= 12, message
                    break
                given = follow(catalog, message, given)
                followed += given is not None
    assert followed > 200
