"""Each task trains to its stated result and resumes; each feature trains with several tasks."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve, task_values
from support.combinations import (
    FIRST_TASK,
    UNTRAINED,
    Way,
    conflict,
    fitting,
    given_for,
    in_turns,
    often,
    pairs,
    shared_bundles,
    suits,
    ways,
)
from support.files import write_files
from support.rendering import render
from support.training import (
    count_passed,
    last_metrics,
    resume_everywhere,
    run,
    run_tests,
)

pytestmark = pytest.mark.train

CATALOG = load_catalog()
BUNDLES, BUNDLES_OF_A_RUN = (shared_bundles(apart=3, each=each) for each in (2, 1))
CHECKPOINTS = Way("checkpoints", (("features.checkpoints.enabled", True),))
# what a proof shows of the task itself: the rest comes from features, and is the same for all
OF_A_TASK = ("resume_is_exact", "two_processes", "evaluation", "predictions_give")
# in every run; the sweep has all tasks
OFTEN = (FIRST_TASK, "tabular_regression")
BRIEF = {"epochs": 2, "limit_batches": 4, "batch_size": 8}  # settings of a run
Proven = Callable[[str, int], None]


# choices whose result is stated, too
STATED: dict[str, dict[str, Value]] = {
    "object_detection, masks": {"object_detection.find": "masks"},
    "embeddings, digits": {"embeddings.dataset": "digits"},
}


@pytest.mark.parametrize(
    ("name", "processes"),
    [
        pytest.param(name, count, marks=[] if (name in OFTEN and count == 2) else pytest.mark.sweep)
        for name in (*CATALOG.tasks, *STATED)
        for count in (1, 2)
    ],
)
def test_default_project_reaches_its_result(
    name: str, processes: int, tmp_path: Path, proven: Proven
) -> None:
    """What the manifest states, with as many samples per step on 2 processes as on 1."""
    task = {"project.name": "example", "project.task": name.partition(",")[0]}
    given: dict[str, Value] = {**task, **STATED.get(name, {})}
    answers = resolve(CATALOG, given)
    project = write_files(tmp_path / "project", render(given))
    batch_size = int(answers["training.batch_size"]) // processes
    began = time.monotonic()
    script = ["train.py", "--batch-size", str(batch_size)]
    run(project, *script, processes=processes, timeout=600)
    seconds = time.monotonic() - began
    goal = task_values(CATALOG, answers)["goal"]
    reached = last_metrics(project)[goal["metric"]]
    assert goal.keys() <= {"metric", "minimum", "maximum"} and len(goal) == 2
    assert goal.get("minimum", reached) <= reached <= goal.get("maximum", reached)
    bound = goal["minimum"] if "minimum" in goal else goal["maximum"]
    assert f"{bound:g}" in (project / "README.md").read_text(), "the README states another result"
    assert seconds < 120 or name in STATED, "to train in two minutes on two cores"
    if processes == 1:
        assert "tensor(" in use_as_the_readme_says(project, given)
    proven("tasks trained to their stated result, on 1 and 2 processes", 1)


def use_as_the_readme_says(project: Path, given: Mapping[str, Value]) -> str:
    """Run the Python of the README without predict.py, which loads the trained weights."""
    readme = render({**given, "features.predict.enabled": False})["README.md"]
    (block,) = re.findall("```python\n(.*?)```", readme, re.DOTALL)
    (project / "use.py").write_text(block.replace("runs/2026-01-31_23-59-59", "runs/latest"))
    return run(project, "use.py")


@pytest.mark.parametrize("task", OFTEN)
def test_the_proof_of_each_task_holds(task: str, tmp_path: Path, proven: Proven) -> None:
    """All of the first one, and of the other what the first one does not prove for it."""
    files = render({"project.task": task})
    leave_out: list[str] = []
    if task != FIRST_TASK:
        same = proof_of(files) & proof_of(render({"project.task": FIRST_TASK}))
        leave_out = [name for name in same if not any(word in name for word in OF_A_TASK)]
    passed = prove(write_files(tmp_path / "project", files), sorted(leave_out))
    assert passed >= (12 if task == FIRST_TASK else 8)
    proven("tests inside generated projects", passed)


@pytest.mark.sweep
@pytest.mark.parametrize("task", CATALOG.tasks)
def test_the_whole_proof_of_each_task_holds(task: str, tmp_path: Path, proven: Proven) -> None:
    """With processes that are launched as an owner launches them."""
    project = write_files(tmp_path / "project", render({"project.task": task}))
    proven("tests inside generated projects", prove(project, real=True))


@pytest.mark.sweep
@pytest.mark.parametrize("task", CATALOG.tasks)
def test_the_proof_holds_with_all_features(task: str, tmp_path: Path, proven: Proven) -> None:
    """As many as go together, and in further projects the ways of features that did not fit.

    Of those, only the tests are run that came with a feature: bundles have them beside others.
    """
    common = proof_of(render(given_for(CATALOG, [], project__task=task)))
    for number, on in enumerate(all_ways(task)):
        files = render(given_for(CATALOG, on, project__task=task))
        leave_out = sorted(common & proof_of(files)) if number else []
        if len(leave_out) < len(proof_of(files)):
            project = write_files(tmp_path / str(number), files)
            proven("tests inside generated projects", prove(project, leave_out))


def proof_of(files: Mapping[str, str]) -> set[str]:
    """The tests of a project, each with its file."""
    return {
        f"{name}::{test}"
        for name, text in files.items()
        if name.startswith("tests/test_")
        for test in re.findall(r"^def (test_\w+)", text, re.MULTILINE)
    }


def all_ways(task: str, first: Sequence[Way] = ()) -> Iterator[list[Way]]:
    """Sets of features, so that each way of each feature that goes with a task is in one.

    Each set begins with the `first` ways, and has those only that go with them.
    """
    every = [way for feature in fitting(CATALOG, task) for way in ways(CATALOG, feature)]
    trained = [way for way in every if not str(way).endswith(UNTRAINED)]
    missing = [way for way in trained if not conflict(CATALOG, [*first, way], task)]
    while missing:
        on = list(first)
        for way in missing:
            if way.feature not in {other.feature for other in on}:
                on += [] if conflict(CATALOG, [*on, way], task) else [way]
        yield on
        missing = [way for way in missing if way not in on]


SPLIT = Way("fsdp", (("hardware.sharding", "fsdp"),))


@pytest.mark.sweep
@pytest.mark.parametrize("task", [task for task in CATALOG.tasks if suits(CATALOG, "fsdp", task)])
def test_a_split_model_goes_with_all_features(task: str, tmp_path: Path, proven: Proven) -> None:
    for number, on in enumerate(all_ways(task, [SPLIT, CHECKPOINTS])):
        files = render(given_for(CATALOG, on, project__task=task))
        others = [name for name in proof_of(files) if "split_model" not in name]
        passed = prove(write_files(tmp_path / str(number), files), others)
        assert passed >= 1
        proven("tests inside generated projects", passed)


def prove(project: Path, leave_out: Sequence[str] = (), real: bool = False) -> int:
    """How many tests of a project passed, which are all of them but those left out."""
    options: list[str] = []
    for name in leave_out:
        file, _, test = name.partition("::")
        assert f"def {test}(" in (project / file).read_text()
        options += ["--deselect", name]
    return count_passed(run_tests(project, *options, real=real))


@pytest.mark.parametrize("task", often(CATALOG.tasks, OFTEN[1:]))
def test_resumes_on_two_processes(task: str, tmp_path: Path, proven: Proven) -> None:
    points = resume_everywhere(
        render({"project.task": task}), 2, tmp_path, **BRIEF, checkpoint_every=3
    )
    assert points == 3
    proven("resume points, bit for bit", points)


@pytest.mark.sweep
@pytest.mark.parametrize("label", BUNDLES)
def test_resumes_with_some_features(label: str, tmp_path: Path, proven: Proven) -> None:
    task, on = BUNDLES[label]
    given = given_for(CATALOG, on, project__task=task) | dict(CHECKPOINTS.given)
    points = resume_everywhere(render(given), 2, tmp_path, **BRIEF, checkpoint_every=1)
    assert points >= 2  # as few as that where gradients are accumulated
    proven("resume points, bit for bit", points)


@pytest.mark.parametrize("label", in_turns(BUNDLES_OF_A_RUN, 8))
def test_features_train(label: str, tmp_path: Path, proven: Proven) -> None:
    """Several features at a time, each of them with one task.

    On 1 and on 2 processes in turn.
    """
    task, on = BUNDLES_OF_A_RUN[label]
    train_briefly(task, on, 1 + list(BUNDLES_OF_A_RUN).index(label) // 8 % 2, tmp_path)
    proven("projects with several features trained", 1)


@pytest.mark.sweep
@pytest.mark.parametrize("task", CATALOG.tasks)
def test_each_feature_trains_with_each_task(task: str, tmp_path: Path, proven: Proven) -> None:
    for feature in fitting(CATALOG, task):
        for number, way in enumerate(ways(CATALOG, feature)):
            if not str(way).endswith(UNTRAINED):
                train_briefly(task, [way], 1 + number % 2, tmp_path / f"{feature.name}{number}")
                proven("features trained, each in all ways with all tasks", 1)


def train_briefly(task: str, on: Sequence[Way], processes: int, folder: Path) -> None:
    project = write_files(folder, render(given_for(CATALOG, on, project__task=task)))
    script = ["train.py", "--epochs", "2", "--limit-batches", "4", "--batch-size", "8"]
    assert re.search(r"^done \| ", run(project, *script, processes=processes), re.MULTILINE)
    assert len(list(project.glob("runs/*/model.safetensors"))) == 1


def test_every_feature_is_in_two_bundles() -> None:
    for feature in CATALOG.features.values():
        tasks = [task for task in CATALOG.tasks if suits(CATALOG, feature.name, task)]
        for way in ways(CATALOG, feature):
            if not str(way).endswith(UNTRAINED):
                for each, some in ((2, BUNDLES), (1, BUNDLES_OF_A_RUN)):
                    found = {task for task, on in some.values() if way in on}
                    assert len(found) >= min(each, len(tasks)), str(way)
    assert len(list(pairs(CATALOG))) >= 100
