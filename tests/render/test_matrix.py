"""What is true of a rendered project in every combination of features."""

import ast
import hashlib
import io
import json
import math
import os
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import black
import pytest
import yaml
from packaging.requirements import Requirement

from scaffold.answers.catalog import Catalog, Component
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import Answers, active_features, applies, is_on, resolve, task_values
from scaffold.cache import remember
from scaffold.errors import AnswerError
from scaffold.render.conditions import Situation
from scaffold.render.project import build_project, compose_project, render_project
from scaffold.render.templates import Source, active_components, find_sources, read_templates
from support.combinations import (
    FIRST_TASK,
    FOR_OTHERS,
    combinations,
    conflict,
    few_combinations,
    given_for,
    meetings,
    own_choices,
    pairs,
    possible,
    ways,
)
from support.facts import facts
from support.files import flatten, write_files
from support.paths import REPOSITORY
from support.rendering import render, render_all
from support.shared import made_once

LINE_LENGTH = 100
# where the name of a distribution is not that of the module that it brings
DISTRIBUTIONS = {
    "sklearn": "scikit-learn",
    "PIL": "pillow",
    "liger_kernel": "liger-kernel",
    "yaml": "pyyaml",
    "huggingface_hub": "huggingface-hub",
    "rouge_score": "rouge-score",
}
# what Accelerate, torch.onnx or transformers imports, or a person starts
NOT_IMPORTED = {
    *("deepspeed", "flash-attn", "jupyterlab", "onnx", "onnxscript", "protobuf", "safetensors"),
    *("scipy", "sentencepiece", "torch_xla", "torchao", "transformer-engine"),
}
# pairs that no manifest lists under `conflicts`, because only one of several choices conflicts
KNOWN_CONFLICTS = (
    {
        frozenset({f"clipping.enabled=True+clipping.kind={kind}", other})
        for kind, other in (
            ("value", "hardware.sharding=fsdp"),
            ("value", "parallelism.enabled=True"),
            ("value", "hardware.sharding=deepspeed"),
            ("adaptive", "hardware.sharding=deepspeed"),
        )
    }
    | {  # the backbone beside adapters has BatchNorm, which a split model must synchronize
        frozenset({f"lora.enabled=True+lora.variant={variant}", other})
        for variant in ("lora", "rslora", "dora")
        for other in ("hardware.sharding=fsdp", "parallelism.enabled=True")
    }
    | {  # and so do models of timm
        frozenset({"stochastic_depth.enabled=True", other})
        for other in ("hardware.sharding=fsdp", "parallelism.enabled=True")
    }
)
HARDWARE = [
    name for name, part in load_catalog().features.items() if "hardware" in part.folder.parts
]


parsed = cache(ast.parse)


@dataclass(frozen=True)
class Project:
    answers: Answers
    files: Mapping[str, str]

    @property
    def python(self) -> dict[str, str]:
        return {name: text for name, text in self.files.items() if name.endswith(".py")}


# what reads a user's files for predict.py and for the user's own data: no folder is for either
READERS = {
    "audio_classification": "audio.py",
    "speech_recognition": "audio.py",
    "forecasting": "data.py",
    "object_detection": "data.py",
    "semantic_segmentation": "data.py",
}
PARTS = 16  # in which the projects are rendered, so that all workers have their share


@pytest.mark.parametrize("part", range(PARTS))
def test_every_combination_renders(part: int) -> None:
    """The other tests find them where `render` keeps them."""
    given = list(shared_combinations(whole=False).values())[part::PARTS]
    assert given
    for answers in given:
        assert render(answers)["train.py"]


def shared_combinations(whole: bool) -> dict[str, Answers]:
    make = combinations if whole else few_combinations
    return made_once(f"combinations {whole}", lambda: make(load_catalog()))


@pytest.fixture(scope="session", params=["some", pytest.param("whole", marks=pytest.mark.sweep)])
def projects(request: pytest.FixtureRequest) -> dict[str, Project]:
    """Those of every run, or in which every two features meet and each is alone with each task."""
    given = shared_combinations(whole=request.param == "whole")
    return {
        label: Project(resolve(load_catalog(), answers), render(answers))
        for label, answers in given.items()
    }


def test_the_combinations_are_complete(
    catalog: Catalog, projects: dict[str, Project], request: pytest.FixtureRequest
) -> None:
    assert len(catalog.features) >= 12 and len(catalog.tasks) >= 1
    apart: set[frozenset[str]] = set()
    together: list[frozenset[str]] = []
    whole = request.node.callspec.params["projects"] == "whole"
    for task in catalog.tasks:
        seen = [
            frozenset(feature.name for feature in active_features(catalog, project.answers))
            for project in projects.values()
            if project.answers["project.task"] == task
        ]
        names = {feature.name for feature in possible(catalog, task)}
        together += seen
        assert len(seen) >= 2, task
        assert f"{task}, all" not in projects or max(map(len, seen)) >= len(names) / 2, task
        assert frozenset() in seen or not whole
        for name in names if whole else ():
            refused = any(label.startswith(f"{task}, {name}.") for label in FOR_OTHERS)
            assert refused or with_required(catalog, [name]) in seen, f"{name} alone with {task}"
        for one, two in pairs(catalog, task):
            pair = frozenset({one.feature, two.feature})
            if pair not in apart and not conflict(catalog, [one, two], task):
                apart.add(pair)
    for pair in apart if whole else ():
        assert any(pair <= on for on in together), sorted(pair)
    assert len(apart) >= len(catalog.features) * (len(catalog.features) - 1) // 4
    for way in (way for part in catalog.features.values() for way in ways(catalog, part)):
        rows = [
            project
            for project in projects.values()
            if dict(way.given).items() <= project.answers.items()
        ]
        assert len(rows) >= 1 + whole, f"{way} is in {len(rows)} projects"
    for key, value in own_choices(catalog.base, catalog.hardware, *catalog.tasks.values()):
        assert any(project.answers[key] == value for project in projects.values()), (key, value)


def with_required(catalog: Catalog, names: Iterable[str]) -> frozenset[str]:
    found = set(names)
    for name in names:
        found |= with_required(catalog, catalog.features[name].requires)
    return frozenset(found)


@pytest.mark.sweep
@pytest.mark.parametrize("task", load_catalog().tasks)
def test_all_pairs_in_all_ways_render(
    task: str, catalog: Catalog, proven: Callable[[str, int], None]
) -> None:
    given = {
        f"{one}, {two}": given_for(catalog, [one, two], project__task=task)
        for one, two in pairs(catalog, task)
        if not conflict(catalog, [one, two], task)
    }
    assert len(given) >= 100
    # which checks names, syntax and the fields of Config
    rendered = render_all(given, formatted=False)
    assert all(files["train.py"] for files in rendered.values())
    proven("pairs of features, in all ways, with all tasks", len(rendered))


@pytest.mark.sweep
@pytest.mark.parametrize("task", load_catalog().tasks)
def test_all_features_meet_with_every_task(
    task: str, catalog: Catalog, proven: Callable[[str, int], None]
) -> None:
    given = {
        f"meeting {number}": given_for(catalog, on, project__task=task)
        for number, on in enumerate(meetings(catalog, task))
    }
    rendered = render_all(given)
    assert all(files["train.py"] for files in rendered.values())
    proven("projects in which every two features meet with every task", len(rendered))


def test_modules_import_each_other_in_no_circle(projects: dict[str, Project]) -> None:
    """Whatever data and model a task has, with as many features as go together."""
    for label, project in projects.items():
        modules = {name[:-3] for name in project.files if re.fullmatch(r"\w+\.py", name)}
        imports = {
            module: modules & facts(project.files[f"{module}.py"]).first - {module}
            for module in modules
        }
        try:
            list(TopologicalSorter(imports).static_order())
        except CycleError as error:
            pytest.fail(f"{label}: {' imports '.join(error.args[1])}")


def test_exactly_the_expected_pairs_conflict(catalog: Catalog) -> None:
    declared = {
        frozenset({one, two})
        for feature in catalog.features.values()
        for other in feature.conflicts
        for one in with_those_that_require(catalog, feature.name)
        for two in with_those_that_require(catalog, other)
    }
    refused, allowed = set(), 0
    for one, two in pairs(catalog):
        if one.feature in HARDWARE and two.feature in HARDWARE:
            continue  # test_hardware.py has what hardware refuses
        try:
            resolve(catalog, given_for(catalog, [one, two]))
        except AnswerError as error:
            required = {
                name for way in (one, two) for name in catalog.features[way.feature].requires
            }
            keys = {catalog.features[name].switch_key for name in required}
            assert error.key in keys | {*dict(one.given), *dict(two.given)}
            if frozenset({one.feature, two.feature}) not in declared:
                refused.add(frozenset({str(one), str(two)}))
        else:
            allowed += 1
    assert refused == KNOWN_CONFLICTS
    assert allowed >= 100


def with_those_that_require(catalog: Catalog, name: str) -> list[str]:
    others = [feature.name for feature in catalog.features.values() if name in feature.requires]
    return [name, *others]


def test_every_file_can_be_read(projects: dict[str, Project]) -> None:
    checked = 0
    for label, project in projects.items():
        for name, text in project.files.items():
            checked += 1
            where = f"{name} of {label}"
            assert text.endswith("\n") and not text.endswith("\n\n"), where
            assert "\r" not in text and "\t" not in text, where
            assert not re.search(r" +$", text, re.MULTILINE), f"{where}: blanks at the end"
            if name.endswith(".py"):
                facts(text)  # which compiles it
            elif name.endswith(".toml"):
                assert tomllib.loads(text), where
            elif name.endswith((".yaml", ".yml")):
                assert all(isinstance(part, dict) for part in yaml.safe_load_all(text)), where
            elif name.endswith(".json"):
                assert json.loads(text), where
    assert checked >= 12 * len(projects)


def test_the_settings_say_the_answers(
    catalog: Catalog, projects: dict[str, Project], request: pytest.FixtureRequest
) -> None:
    """The answers to all settings that have an effect follow from scaffold.toml."""
    whole = request.node.callspec.params["projects"] == "whole"
    off = {f.switch_key: False for f in catalog.features.values() if not f.switch}

    for label, project in projects.items():
        written = flatten(tomllib.loads(project.files["scaffold.toml"]))
        expected = {
            key: project.answers[key]
            for key, option in catalog.settings.items()
            if applies(catalog, option, project.answers)
        }
        assert written.items() <= expected.items(), label
        if whole or label.endswith(", default"):  # the others of a run have many choices made
            assert len(written) < len(expected) / 2 or len(expected) < 40, label
        found = resolve(catalog, off | written)
        assert {key: found[key] for key in expected} == expected, label


def test_accelerate_gets_the_hardware(projects: dict[str, Project]) -> None:
    several = 0
    for label, project in projects.items():
        config, answers = yaml.safe_load(project.files["accelerate.yaml"]), project.answers
        if answers["hardware.launcher"] == "sagemaker":
            continue
        for name in ("num_processes", "num_machines", "use_cpu"):
            assert config[name] == answers[f"hardware.{name}"], label
        if not answers["deepspeed.config_file"]:
            assert config["mixed_precision"] == answers["hardware.mixed_precision"], label
        several += answers["hardware.num_processes"] > 1
        if config["distributed_type"] != "DEEPSPEED":
            alone = answers["hardware.num_processes"] == 1
            assert (config["distributed_type"] == "NO") == alone, label
    assert several >= 2


Found = Mapping[str, Iterable[Source]]


def sources(found: Found, name: str) -> list[str]:
    """What templates put into a Python file."""
    texts = []
    for source in found.get(name, ()):
        lines = [*(source.template.whole or ()), *source.template.imports]
        for part in source.parts:
            directive = part.directive
            place = f"#: {directive.word} {directive.name}"
            lines += [directive.line._replace(text=place), *part.lines]
        texts.append("".join(f"{line.text}\n" for line in lines))
    return texts


def vocabulary(
    found: Found, components: Iterable[Component], name: str
) -> tuple[set[str], set[str]]:
    """The names and comments that components may put into a file with their templates."""
    names, comments = set(), set()
    for text in sources(found, name):
        more_names, more_comments = tokens(text)
        names |= more_names
        comments |= more_comments
    for component in components:
        for option in component.options if name in ("config.py", "train.py") else ():
            if option.config:
                names |= {option.field, option.type}
                comments.add(f"# {option.comment}")
    return names, comments


@cache
def tokens(text: str) -> tuple[set[str], set[str]]:
    """The names and the comments in code. Values of answers in it are neither."""
    names, comments = set(), set()
    for expression in re.findall(r"\{\{(.*?)\| arguments", text):
        names |= set(re.findall(r'\("(\w+)"', expression))
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "0", text)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NAME:
                names.add(token.string)
            elif token.type == tokenize.COMMENT and not token.string.startswith("#: "):
                comments.add(token.string)
    except tokenize.TokenError:  # brackets that a region of another choice closes
        names |= set(re.findall(r"\w+", text))
        comments |= set(re.findall("#(?!: ).*", text))
    return names, comments


def test_no_name_and_no_comment_of_what_is_off(
    catalog: Catalog, projects: dict[str, Project], request: pytest.FixtureRequest
) -> None:
    """Every name and comment in a project comes from a component that is on.

    In every run of each sixth project.
    """
    caught = {
        feature.name: 0
        for feature in catalog.features.values()
        if any(
            target not in {name for name, row in read_templates(feature) if row.whole is not None}
            for target, _ in read_templates(feature)  # code in files that others bring
        )
    }
    every = 1 if request.node.callspec.params["projects"] == "whole" else 6
    for label, project in list(projects.items())[::every]:  # the first one has no feature
        answers = project.answers
        on = active_components(catalog, answers)
        bare = label.endswith(", none")
        found = find_sources(Situation(catalog, answers), on)
        composed, _ = compose_project(catalog, answers)
        off = {
            feature.name: find_sources(Situation(catalog, answers), [feature])
            for feature in catalog.features.values()
            if bare and feature not in on and feature.name in caught
        }
        words = " ".join(map(str, task_values(catalog, answers).values()))
        for name, text in project.python.items():
            known_names, known_comments = vocabulary(found, on, name)
            library = [line for line in composed.get(name, ()) if line.path.parent.name == "lib"]
            for line in library:  # what code imports from it, and what that needs
                known_names |= set(re.findall(r"\w+", line.text))
                known_comments |= set(re.findall("# .*", line.text))
            known_names |= set(re.findall(r"\w+", words))
            names, comments = tokens(text)
            known_names |= {"str", "True", "False", "Literal", "typing", "fields", "LIMITS", "name"}
            strange = names - known_names
            assert not strange, f"{name} of {label}: {sorted(strange)}"
            strange = {text for text in comments - known_comments if text not in words}
            assert not strange, f"{name} of {label}"
            for other, parts in off.items():
                names, comments = vocabulary(parts, [catalog.features[other]], name)
                caught[other] += bool(names - known_names or comments - known_comments)
    assert all(caught.values()), f"these would leave no trace: {caught}"


def config_fields(script: str) -> dict[str, ast.AnnAssign]:
    config = next(
        node
        for node in parsed(script).body
        if isinstance(node, ast.ClassDef) and node.name == "Config"
    )
    rows = [row for row in config.body if isinstance(row, ast.AnnAssign)]
    return {row.target.id: row for row in rows if isinstance(row.target, ast.Name)}


def test_config_defaults_are_the_answers(catalog: Catalog, projects: dict[str, Project]) -> None:
    """No project is rendered with a field that nobody reads, nor with one that is missing."""
    checked = 0
    for label, project in projects.items():
        fields = config_fields(project.files.get("config.py", project.files["train.py"]))
        for component in active_components(catalog, project.answers):
            for option in component.options:
                if option.config and applies(catalog, option, project.answers):
                    value = ast.literal_eval(fields[option.field].value)
                    answer = project.answers[option.key]
                    assert (value, type(value)) == (answer, type(answer)), f"{label}: {option.key}"
                    checked += 1
    assert checked >= 8 * len(projects)


def test_every_field_of_config_has_a_help_text(projects: dict[str, Project]) -> None:
    """The comment behind it, or above a line that is too long, which tyro reads."""
    pattern = r"(?:# (.*)\n +)?(\w+): .*?(?:  # (.*))?\n"  # behind it, or above a long one
    checked = 0
    for label, project in projects.items():
        if project.answers["project.loop"] == "complete":
            script = project.files["config.py"]
            [text] = re.findall(r"^class Config:\n((?:    .*\n)*)", script, re.MULTILINE)
            helped = {name: above or behind for above, name, behind in re.findall(pattern, text)}
            assert helped.keys() == config_fields(script).keys(), label
            assert all(helped.values()), label
            checked += len(helped)
    assert checked >= 12 * len(projects)


def test_every_number_of_config_has_the_limits_of_its_question(
    catalog: Catalog, projects: dict[str, Project]
) -> None:
    """From 0 up, where config.py names no others."""
    checked = 0
    for label, project in projects.items():
        if project.answers["project.loop"] != "complete":
            continue
        limits = limits_of(project.files["config.py"])
        for component in active_components(catalog, project.answers):
            for option in component.options:
                number = option.type in ("int", "float")
                if number and option.config and applies(catalog, option, project.answers):
                    low, high = limits.get(option.field, (0, math.inf))
                    assert low == (-math.inf if option.minimum is None else option.minimum), label
                    assert high == (math.inf if option.maximum is None else option.maximum), label
                    checked += 1
    assert checked >= 8 * len(projects)


@cache
def limits_of(config: str) -> dict[str, tuple[float, float]]:
    """What the LIMITS of a config.py say."""
    [text] = re.findall(r"^LIMITS = (\{.*?^\}|\{\})", config, re.MULTILINE | re.DOTALL)
    found: dict[str, tuple[float, float]] = eval(text, {"inf": math.inf})
    return found


def test_readme_lists_exactly_what_was_chosen(
    catalog: Catalog, projects: dict[str, Project]
) -> None:
    listed = 0
    for label, project in projects.items():
        readme = project.files["README.md"]
        for feature in catalog.features.values():
            present = f"- **{feature.title}**" in readme
            assert present == is_on(feature, project.answers), f"{feature.name} in {label}"
            listed += present
        for name in re.findall(r"`(\w+\.py)`", readme):
            assert name in project.files, f"{name} in {label}"
        modules = {name for name in project.python if "/" not in name}
        assert modules <= set(re.findall(r"`(\w+\.py)`", readme)), label
    assert listed >= 100


def test_black_has_nothing_to_change(
    projects: dict[str, Project], request: pytest.FixtureRequest
) -> None:
    """With the versions of Python that black reads from `requires-python`.

    In every run of some variants of each file, in the sweep of all.
    """
    most = 2 if request.node.callspec.params["projects"] == "some" else 10**6
    versions = {version for version in black.TargetVersion if version.value >= 11}
    mode = black.Mode(line_length=LINE_LENGTH, target_versions=versions)
    texts: dict[str, dict[str, str]] = {}
    for label, project in projects.items():
        for name, text in project.python.items():
            texts.setdefault(name, {}).setdefault(text, f"{name} of {label}")
    checked = 0
    for variants in texts.values():
        some = list(variants.items())
        for text, where in some[:: max(1, len(some) // most)]:
            assert black.format_str(text, mode=mode) == text, where
            checked += 1
    assert checked >= 100


def test_ruff_finds_nothing(projects: dict[str, Project], tmp_path: Path) -> None:
    """Each project with its own pyproject.toml, as its owner would run it."""
    labels = list(projects)
    for number, project in enumerate(projects.values()):
        write_files(tmp_path / str(number), project.files)
    faulty = write_files(tmp_path / "faulty", projects[f"{FIRST_TASK}, none"].files)
    with (faulty / "train.py").open("a") as file:
        file.write("import os\n")
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=json"]
    for select in ([], ["--select", "F,E,W,I,B,UP,SIM"]):
        result = subprocess.run([*command, *select, tmp_path], capture_output=True, text=True)
        found = {
            f"{Path(row['filename']).relative_to(tmp_path)}:{row['location']['row']}: {row['code']}"
            for row in json.loads(result.stdout)
        }
        seen = {row for row in found if row.startswith("faulty/train.py")}
        assert any("F401" in row for row in seen), result.stderr  # it does look
        assert found == seen, labels


def test_nothing_of_the_template_syntax_is_left(projects: dict[str, Project]) -> None:
    for label, project in projects.items():
        for name, text in project.files.items():
            if name == "model_card.md":  # which huggingface_hub fills in
                continue
            if "CHAT_TEMPLATE" in text:  # templates that transformers fills in
                text = re.sub(r"(?s)# for a tokenizer without a chat .*?\n\)\n", "", text)
                text = re.sub(r"(?m)^MARK = .*\n", "", text)
            for mark in ("#: ", "{{", "{% ", " %}", "{#"):
                assert mark not in text, f"{mark} in {name} of {label}"


def third_party(project: Project, names: Iterable[str]) -> set[str]:
    """The distributions that files of the project import."""
    own = {Path(name).stem for name in project.python}
    modules = set().union(*(facts(project.files[name]).imported for name in names))
    found = modules - own - sys.stdlib_module_names
    for name in names:
        # accelerate imports the package of a tracker by its name
        for row in re.findall(r'(?:log_with=|trackers = \[)(".*")', project.files[name]):
            found |= set(re.findall(r'"(\w+)"', row))
        # and pandas that which reads Parquet
        found |= {"pyarrow"} if "pd.read_parquet" in project.files[name] else set()
    found.discard("fsspec")  # torch requires it
    return {DISTRIBUTIONS.get(name, name) for name in found}


def test_dependencies_are_what_is_imported(projects: dict[str, Project]) -> None:
    several = set()
    for label, project in projects.items():
        table = tomllib.loads(project.files["pyproject.toml"])["project"]
        tests = [name for name in project.python if name.startswith("tests/")]
        dependencies = [Requirement(row).name for row in table["dependencies"]]
        needed = third_party(project, project.python.keys() - set(tests))
        needed |= {name for name in dependencies if name in NOT_IMPORTED}
        assert sorted(needed) == dependencies, label  # each once, in order
        extra = [Requirement(row).name for row in table["optional-dependencies"]["test"]]
        # pytest runs them, whether or not they import it
        ruff = {"ruff"} if project.answers["features.ci.enabled"] else set()
        assert sorted({"pytest", *ruff, *third_party(project, tests)} - needed) == extra, label
        several.add(tuple(dependencies))
    assert len(several) >= 4


def test_every_function_and_class_is_used(projects: dict[str, Project]) -> None:
    """What a module defines is used by name somewhere in the project."""
    checked = 0
    for label, project in projects.items():
        used = set().union(*(facts(text).used for text in project.python.values()))
        for name, text in project.python.items():
            reader = READERS.get(str(project.answers["project.task"]))
            if name == reader and "predict.py" not in project.files:
                continue
            if not name.startswith("tests/"):
                for target in facts(text).bound:
                    assert target in used, f"nothing uses {target} in {name} of {label}"
                    checked += 1
    assert checked >= 10 * len(projects)


def test_scripts_are_short(
    catalog: Catalog, projects: dict[str, Project], request: pytest.FixtureRequest
) -> None:
    """train.py as its owner reads it: by default, and with everything that goes together.

    In every run beside choices that add some lines.
    """
    most = 410 if request.node.callspec.params["projects"] == "whole" else 423
    for task in catalog.tasks:
        assert lines(projects[f"{task}, default"]) <= (171 if task == FIRST_TASK else 210), task
    full = [label for task in catalog.tasks if (label := f"{task}, all") in projects]
    assert len(full) >= len(catalog.tasks) / 2
    for label in full:
        assert lines(projects[label]) <= most, label
    nodes = parsed(projects[f"{FIRST_TASK}, default"].files["train.py"]).body
    main = next(node for node in nodes if getattr(node, "name", "") == "main")
    assert main.end_lineno - main.lineno + 1 < 95


def lines(project: Project) -> int:
    return len(project.files["train.py"].splitlines())


def test_rendering_is_deterministic(catalog: Catalog, projects: dict[str, Project]) -> None:
    """Twice in one process, and in one where sets have another order."""
    plain = projects[f"{FIRST_TASK}, none"]
    assert render_project(catalog, plain.answers) == plain.files
    project = projects[f"{FIRST_TASK}, all"]
    code = (
        "import sys, json, hashlib\n"
        "from scaffold.answers.manifests import load_catalog\n"
        "from scaffold.render.project import build_project\n"
        "files = build_project(load_catalog(), json.loads(sys.argv[1]))\n"
        "print(hash('a'), hashlib.sha256(json.dumps(files).encode()).hexdigest())"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, json.dumps(project.answers)],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
        text=True,
    )
    order, digest = result.stdout.split()
    assert int(order) != hash("a")
    files = build_project(catalog, project.answers, remember)
    assert digest == hashlib.sha256(json.dumps(files).encode()).hexdigest()
