"""A run that stops is resumed exactly, however it stops; and what can't be resumed says why."""

import contextlib
import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import pytest

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from support.combinations import as_many_as_possible, given_for, in_turns
from support.files import replace_in, write_files
from support.forge import Bomb, assert_nothing_is_executed, ways
from support.paths import DRIVERS
from support.rendering import render_with_best as render
from support.training import begin, resume_everywhere, run, start

CATALOG = load_catalog()
pytestmark = pytest.mark.train
Proven = Callable[[str, int], None]

PROJECTS: dict[str, Mapping[str, Value]] = {
    "default": {},
    "none": {**given_for(CATALOG, []), "features.checkpoints.enabled": True},
    "augmentation, workers": {"features.augmentation.enabled": True, "training.num_workers": 2},
    "accumulation": {"training.gradient_accumulation_steps": 4},
    "early stop": {"features.early_stopping.enabled": True, "features.early_stopping.patience": 1},
    "all": {
        **given_for(CATALOG, as_many_as_possible(CATALOG)),
        "training.num_workers": 2,
        # no run reads what is drawn, which takes four tenths of a short one
        "features.learning_curves.enabled": False,
    },
}
# a project, its processes, its epochs and their batches: one epoch of all takes ten times as long
RESUMED = [
    pytest.param("all", 1, 1, 4, id="all-1"),
    pytest.param("default", 2, 2, 4, id="default-2"),
    *(
        pytest.param(
            label,
            processes,
            3,
            6 * int(PROJECTS[label].get("training.gradient_accumulation_steps", 1)),
            id=f"{label}-{processes}, 3 epochs",
            marks=pytest.mark.sweep,
        )
        for label in PROJECTS
        for processes in (1, 2)
    ),
]


@pytest.mark.parametrize(("label", "processes", "epochs", "batches"), RESUMED)
def test_resumes_from_any_step(
    label: str, processes: int, epochs: int, batches: int, tmp_path: Path, proven: Proven
) -> None:
    settings = {"batch_size": 16, "checkpoint_every": 1, "limit_batches": batches}
    files = render(PROJECTS[label])
    points = resume_everywhere(files, processes, tmp_path, epochs=epochs, **settings)
    assert points >= (6 if epochs == 3 else 1)  # as few as that where gradients are accumulated
    proven("resume points, bit for bit", points)


KILLS = [
    (2, 2),
    *(pytest.param(*case, marks=pytest.mark.sweep) for case in [(1, 3), (1, 60), (2, 40)]),
]


# 10 steps, each of which is saved
SAVED = ["train.py", "--epochs", "2", "--limit-batches", "5", "--batch-size", "16"]
SAVED += ["--checkpoint-unit", "steps", "--checkpoint-every", "1", "--keep-checkpoints", "3"]


@pytest.mark.parametrize(("processes", "kills"), KILLS)
def test_survives_kills(processes: int, kills: int, tmp_path: Path, proven: Proven) -> None:
    """At moments of chance, and every other time in the middle of saving."""
    project, chance = write_files(tmp_path / "project", render({})), Random(0)
    run(project, *SAVED, "--output-dir", "whole", processes=processes)
    killed = saving = 0
    while killed < kills:
        folder = project / f"killed{killed}"
        script = [*SAVED, "--output-dir", folder.name]
        process = begin(project, script, processes)
        reached = chance.randrange(9)
        while process.poll() is None and newest(folder) < reached:
            time.sleep(0.001)
        while killed % 2 and process.poll() is None and newest(folder) < 10:
            if is_saving(folder):
                break
            time.sleep(0.0002)
        time.sleep(chance.uniform(0, 0.01 if killed % 2 else 0.05))
        process.kill()
        process.communicate()  # until all of its processes have ended
        if process.returncode == 0:  # it was faster
            shutil.rmtree(folder)
            continue
        saving += is_saving(folder)
        resume = ["--resume"] if any(folder.glob("checkpoint_*[0-9]")) else []
        run(project, *script, *resume, processes=processes)
        assert read_end(folder) == read_end(project / "whole"), folder
        killed += 1
    assert kills < 40 or saving >= 3, "no kill fell into the saving of a checkpoint"
    proven("kills survived", kills)
    proven("kills survived while saving", saving)


def newest(folder: Path) -> int:
    """The step of the newest checkpoint, whole or not."""
    names = [path.stem for path in folder.glob("checkpoint_*")]
    return max((int(name.split("_")[1]) for name in names), default=0)


def is_saving(folder: Path) -> bool:
    return any(folder.glob("checkpoint_*.partial"))


def read_end(folder: Path) -> dict[str, bytes]:
    """The results of a run, and its last checkpoint without the names of folders."""
    last = [path for path in max(folder.glob("checkpoint_*")).iterdir() if path.suffix != ".json"]
    paths = [folder / "model.safetensors", folder / "metrics.jsonl", *last]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a run of one epoch."""
    project = write_files(tmp_path_factory.mktemp("stopped") / "project", render({}))
    run(project, "train.py", "--epochs", "1", "--limit-batches", "4")
    return project


def resume(
    stopped: Path, folder: Path, *flags: str, processes: int = 1
) -> subprocess.CompletedProcess[str]:
    """Resume a copy of the stopped run."""
    if not folder.exists():
        shutil.copytree(stopped, folder)
    script = ["train.py", "--epochs", "2", "--limit-batches", "4", "--resume", *flags]
    return start(folder, script, processes)


def assert_refused(result: subprocess.CompletedProcess[str], *words: str) -> None:
    assert result.returncode != 0
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


def only_checkpoint(folder: Path) -> Path:
    [checkpoint] = (folder / "runs/latest").glob("checkpoint_*[0-9]")
    return checkpoint


def test_a_named_checkpoint_is_resumed(stopped: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(stopped, tmp_path / "copy")
    checkpoint = only_checkpoint(folder).relative_to(folder)
    script = ["train.py", "--resume", str(checkpoint), "--limit-batches", "4"]
    printed = run(folder, *script, "--output-dir", "runs/2")
    assert f"resumed from {checkpoint} at step 4" in printed
    # which is not the newest; tyro also takes underscores
    printed = run(folder, "train.py", "--resume", "--output_dir", "runs/latest")
    assert f"resumed from {checkpoint} at step 4" in printed
    result = start(folder, ["train.py", "--resume", "runs", "--output-dir", "runs/3"])
    assert_refused(result, "No complete checkpoint to resume: runs.")


def test_a_checkpoint_is_resumed_from_its_own_folder(stopped: Path, tmp_path: Path) -> None:
    """`--resume .` continues the run around it, and deletes nothing, though it was a trial."""
    folder = only_checkpoint(shutil.copytree(stopped, tmp_path / "copy"))
    before = sorted(path.name for path in folder.iterdir())
    run(folder, "../../../train.py", "--resume", ".", "--epochs", "2", "--keep-checkpoints", "0")
    assert sorted(path.name for path in folder.iterdir()) == before
    assert (folder.parent / "checkpoint_00000008").is_dir()


OWN_FIELDS = """
    data_dir: Path = Path("data")  # where the data are
    shuffle: bool = True  # whether to shuffle
"""
PARSE = """
import json, sys
from pathlib import Path
from config import find_checkpoints, parse_config

path = find_checkpoints(Path("runs/latest"))[-1] / "config.json"
saved = path.read_text()
for old, new in (("", ""), *(edit.split(" -> ") for edit in sys.argv[1:])):
    path.write_text(saved.replace(old, new))
    sys.argv = ["train.py", "--resume", "--output-dir", "runs/latest", "--seed", "3"]
    try:
        print(repr(parse_config("")))
    except SystemExit as stop:
        print(stop)
"""


def test_saved_settings_come_back_with_their_types_and_checks(tmp_path: Path) -> None:
    """Fields that the owner added, too; and what can't be read or is not allowed says so."""
    project = write_files(tmp_path / "project", render({}))
    text = (project / "config.py").read_text()
    head = "    output_dir: Path"
    (project / "config.py").write_text(text.replace(head, f"{OWN_FIELDS.strip(chr(10))}\n{head}"))
    flags = "--epochs 1 --limit-batches 1 --learning-rate 1e-05 --checkpoint-unit steps"
    run(project, "train.py", *flags.split(), "--data-dir", "a = b", "--no-shuffle")
    edits = ['"epochs": 1 -> "epochs": 0', '"seed" -> "sead"', ": -> ;"]
    edits.append('"batch_size": 32 -> "batch_size": "many"')
    found = start(project, ["-c", PARSE, *edits]).stdout.splitlines()
    taken = "epochs=1, batch_size=32, learning_rate=1e-05, weight_decay=0.01, max_steps=0"
    for part in (taken, "seed=3", "checkpoint_unit='steps'", "shuffle=False", "'a = b'"):
        assert part in found[0], found[0]
    path = "runs/latest/checkpoint_00000001"
    assert f"output_dir=PosixPath('runs/latest'), limit_batches=1, resume='{path}'" in found[0]
    assert found[1] == f"{path}/config.json: epochs must be at least 1, not 0."
    assert found[2] == found[0], "a name that is no field is left out"
    assert found[3].startswith(f"{path}/config.json can't be read: JSONDecodeError(")
    assert found[4] == f"{path}/config.json: batch_size can't be 'many'."


def test_each_run_has_a_folder_of_its_own(stopped: Path, tmp_path: Path) -> None:
    """Named after its second, on two processes, too, of which each has a clock."""
    folder = shutil.copytree(stopped, tmp_path / "copy")
    (folder / "plain.py").write_text("import train; train.main(train.parse_config(''))")
    for processes in (1, 2):
        runs = set((folder / "runs").iterdir())
        if processes > 1:
            time.sleep(1)
        run(folder, "plain.py", "--epochs", "1", "--max-steps", "1", processes=processes)
        [made] = set((folder / "runs").iterdir()) - runs
        assert re.fullmatch(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d", made.name)


def test_files_of_the_owner_stay_in_the_output_folder(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", render({}))
    own = [project / name for name in ("data.jsonl", "notes.json")]
    for path in own:
        path.write_text("mine")
    run(project, "train.py", "--epochs", "1", "--max-steps", "2", "--output-dir", ".")
    assert [path.read_text() for path in own] == ["mine"] * 2


def test_a_job_that_resumes_by_itself_does_not_continue_a_trial(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", render({"hardware.launcher": "slurm"}))
    job = ["train.py", "--resume", "auto", "--max-steps", "3"]
    trial, taken = [*job, "--limit-batches", "1"], "resumed from runs/latest/checkpoint_00000003"
    results = [start(project, script) for script in (trial, trial, job)]
    assert [taken in result.stdout for result in results] == [False, True, False]
    assert_refused(results[-1], "runs/latest holds a trial run: delete it")


def test_a_job_that_ended_before_its_first_checkpoint_starts_over(tmp_path: Path) -> None:
    """Its best weights are there, but nothing to resume. A person is asked what to do."""
    project = write_files(tmp_path / "project", render({"hardware.launcher": "slurm"}))
    best = project / "runs/latest/best.safetensors"
    killed = "import os, train; update = train.BestModel.update; "
    killed += "train.BestModel.update = lambda *given: (update(*given), os._exit(9)); "
    killed += "train.main(train.Config(epochs=1))"
    assert start(project, ["-c", killed]).returncode == 9
    assert best.is_file() and not list(best.parent.glob("checkpoint_*"))
    run(project, "train.py", "--epochs", "1", "--max-steps", "3", "--resume", "auto")
    assert only_checkpoint(project).name == "checkpoint_00000003"


def test_a_saved_choice_that_is_gone_becomes_the_default(tmp_path: Path) -> None:
    """Or a run that saved by the clock would never save again."""
    folder = write_files(tmp_path / "project", render({"training.checkpoint_unit": "minutes"}))
    script = ["train.py", "--limit-batches", "4", "--epochs"]
    run(folder, *script, "1")
    write_files(folder, render({}))
    result = run(folder, *script, "3", "--resume", "--keep-checkpoints", "0")
    assert "checkpoint_unit is epochs, and was minutes when" in result
    saved = sorted(path.name[-2:] for path in (folder / "runs/latest").glob("checkpoint_*"))
    assert saved == ["04", "08", "12"]


def test_results_are_not_overwritten_without_checkpoints(tmp_path: Path) -> None:
    """Someone deleted the checkpoints of a run that is over."""
    project = write_files(tmp_path / "project", render({}))
    real = ["train.py", "--epochs", "1", "--max-steps", "2", "--output-dir", "runs/latest"]
    run(project, *real)
    shutil.rmtree(only_checkpoint(project))
    runs = project / "runs/latest"
    before = {path: path.read_bytes() for path in runs.iterdir() if path.is_file()}
    assert len(before) == 4
    assert_refused(start(project, real, 2), "runs/latest has ", "choose another --output-dir.")
    after = {path: path.read_bytes() for path in runs.iterdir() if path.is_file()}
    assert after == before


LEFT: dict[str, tuple[Mapping[str, Value], Mapping[str, Value], str]] = {
    "accumulation gained": (
        {},
        {"training.gradient_accumulation_steps": 4},
        "gradient_accumulation_steps was None, not 4, and can't change: ",
    ),
    "another order": (
        {"features.balanced_sampling.enabled": True},
        {"features.own_sampler.enabled": True},
        "data_order was balanced, not own, and can't change: ",
    ),
    "a stream": (
        {},
        {"features.stream.enabled": True},
        "stream_epoch_batches was None, not 40, and can't change: ",
    ),
    "another context": (
        {"project.task": "language_model"},
        {"project.task": "language_model", "language_model.context": 32},
        "context was 128, not 32, and can't change: ",
    ),
}


def regenerate(folder: Path, given: Mapping[str, Value]) -> subprocess.CompletedProcess[str]:
    """Resume what another version of the project saved. Its own settings are flags here."""
    for path in (*folder.glob("*.py"), *folder.glob("*.toml")):
        path.unlink()
    write_files(folder, render(given))
    config = re.search(r"^class Config:\n(.*?)^\n", (folder / "config.py").read_text(), re.M | re.S)
    assert config
    values = dict(re.findall(r"^    (\w+): \w+ = (\w+)  #", config[1], re.M))
    flags = ["--resume", "--epochs", "3"]
    for name in ("gradient_accumulation_steps", "context"):
        flags += [f"--{name.replace('_', '-')}", values[name]] if name in values else []
    return start(folder, ["train.py", *flags])


@pytest.mark.parametrize("label", in_turns(LEFT, 2))
def test_settings_of_the_data_that_came_or_went_are_refused(label: str, tmp_path: Path) -> None:
    before, after, reason = LEFT[label]
    folder = write_files(tmp_path / "project", render(before))
    run(folder, "train.py", "--epochs", "1", "--limit-batches", "4")
    assert_refused(regenerate(folder, after), reason)


def test_a_setting_whose_code_went_is_named(tmp_path: Path) -> None:
    """Nothing in the project knows any more whether it may change."""
    balanced = {"features.balanced_sampling.enabled": True}
    folder = write_files(tmp_path / "project", render(balanced))
    run(folder, "train.py", "--epochs", "1", "--limit-batches", "4")
    result = regenerate(folder, {})
    assert result.returncode == 0, result.stderr
    said = "data_order is None, and was balanced when the checkpoint was saved"
    assert said in result.stdout


# A run that is killed as soon as it has deleted a file of an old checkpoint
HALF = """
import os, shutil, sys
from pathlib import Path
import train

def delete_half(folder, **settings):
    files = [path for path in folder.rglob("*") if path.is_file()]
    if len(files) > 3:
        files[0].unlink()
        os._exit(9)
    rmtree(folder, **settings)

rmtree, shutil.rmtree = shutil.rmtree, delete_half
folder = Path("runs/latest")
train.main(train.Config(epochs=2, limit_batches=4, keep_checkpoints=1, output_dir=folder))
"""


def test_a_kill_while_deleting_leaves_nothing(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", render({}))
    assert start(project, ["-c", HALF]).returncode == 9
    runs = project / "runs/latest"
    found = sorted(path.name for path in runs.glob("checkpoint_*"))
    assert found == ["checkpoint_00000004.partial", "checkpoint_00000008"]
    run(project, "train.py", "--epochs", "2", "--resume")
    assert not [path.name for path in runs.iterdir() if "partial" in path.name]


def test_links_to_checkpoints_are_deleted_without_what_they_link_to(
    stopped: Path, tmp_path: Path
) -> None:
    folder, elsewhere = shutil.copytree(stopped, tmp_path / "copy"), tmp_path / "elsewhere"
    link = only_checkpoint(folder)
    shutil.copytree(link, elsewhere)
    shutil.rmtree(link)
    link.symlink_to(elsewhere)
    whole = sorted(elsewhere.iterdir())
    nowhere = link.parent / "checkpoint_00000006"
    nowhere.symlink_to(tmp_path / "nowhere")
    result = resume(stopped, folder)
    assert_refused(result, "No complete checkpoint to resume: runs/latest/checkpoint_00000006.")
    nowhere.unlink()
    result = resume(stopped, folder, "--keep-checkpoints", "1")
    assert result.returncode == 0, result.stderr
    assert not link.is_symlink()
    assert sorted(elsewhere.iterdir()) == whole


def test_weights_have_the_usual_rights(stopped: Path) -> None:
    """safetensors alone would write files that only their owner can read."""
    usual = (stopped / "runs/latest/config.json").stat().st_mode
    weights = list((stopped / "runs/latest").glob("*.safetensors"))
    assert len(weights) == 2 and all(path.stat().st_mode == usual for path in weights)


@pytest.mark.every_run
def test_another_world_is_refused(stopped: Path, tmp_path: Path) -> None:
    result = resume(stopped, tmp_path / "copy", processes=2)
    assert "processes was 1, not 2, " in result.stderr
    assert result.returncode != 0


def test_folds_of_other_settings_are_not_mixed(tmp_path: Path) -> None:
    """Those of flags, and those of config.py. A fold that failed before it began is no obstacle."""
    folds = {"features.cross_validation.enabled": True, "features.cross_validation.folds": 2}
    folder = write_files(tmp_path, render({"project.task": "tabular_regression", **folds}))
    result = start(folder, ["cross_validate.py", "--batch-size", "4000"])
    assert "Each process needs one full batch" in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stderr.endswith(
        "ended with status 1. Run the same command again to continue it.\n"
    )
    result = start(folder, ["cross_validate.py", "--epochz", "1"])
    assert result.returncode == 2 and "fold 1" not in result.stdout
    run(folder, "cross_validate.py", "--max-steps", "1")
    replace_in(folder / "config.py", "learning_rate: float = 0.001", "learning_rate: float = 0.01")
    result = start(folder, ["cross_validate.py", "--max-steps", "1"])
    assert (
        "has runs with other settings: learning_rate is 0.01, and was 0.001. Use" in result.stderr
    )
    assert "fold 1" not in result.stdout


def test_another_model_is_refused(stopped: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(stopped, tmp_path / "copy")
    model = folder / "model.py"
    model.write_text(model.read_text().replace("channels: int = 32", "channels: int = 8"))
    result = resume(stopped, folder)
    assert result.returncode != 0 and "size mismatch" in result.stderr


@pytest.mark.parametrize("name", ["model.safetensors", "loop.pt", "random_states_0.pkl"])
def test_a_truncated_checkpoint_never_trains(name: str, stopped: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(stopped, tmp_path / "copy")
    path = only_checkpoint(folder) / name
    path.write_bytes(path.read_bytes()[:-100])
    result = resume(stopped, folder)
    assert_refused(result, "checkpoint_00000004 is damaged: resume an earlier checkpoint.")


def test_features_may_come_and_go(stopped: Path, tmp_path: Path) -> None:
    """An average of the weights changes no batch: that it begins anew is said."""
    folder = shutil.copytree(stopped, tmp_path / "copy")
    for given, said in (
        ({"features.ema.enabled": True}, "ema is not in the checkpoint: it starts from scratch"),
        ({}, "resumed from"),
    ):
        write_files(folder, render(given))
        assert said in run(folder, "train.py", "--resume", "--epochs", "2")


def test_nothing_in_a_checkpoint_is_executed(stopped: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(stopped, tmp_path / "copy")
    assert_nothing_is_executed(folder, 1)
    import torch

    for content in ways(Bomb(folder / "executed")).values():
        (folder / "bomb").write_bytes(content)
        with contextlib.suppress(Exception):
            torch.load(folder / "bomb", weights_only=False)
        (folder / "executed").rmdir()  # where nothing is refused, it is executed


@pytest.fixture(scope="module")
def saved_twice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with checksums, and two checkpoints of one run."""
    files = render({"features.checksums.enabled": True})
    project = write_files(tmp_path_factory.mktemp("twice") / "project", files)
    run(project, "train.py", "--epochs", "2", "--limit-batches", "4")
    return project


def test_a_flipped_bit_is_noticed(saved_twice: Path, tmp_path: Path, proven: Proven) -> None:
    """In each file of the newest checkpoint: then the one before is taken, and the log says so."""
    project = shutil.copytree(saved_twice, tmp_path / "copy")
    shutil.copy(DRIVERS / "find_damage.py", project)
    result = run(project, "find_damage.py", "runs/latest")
    places = [json.loads(line) for line in result.splitlines() if line.startswith("{")]
    assert len({place["file"] for place in places}) == 7
    assert {place["taken"] for place in places} == {"checkpoint_00000004"}
    said = re.findall(
        r"^\S+/checkpoint_00000008 is damaged or incomplete: .+$", result, re.MULTILINE
    )
    assert len(said) == len(places) == 28
    proven("flipped bits noticed", len(places))


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_damaged_checkpoint_is_left_for_the_one_before(saved_twice: Path, tmp_path: Path) -> None:
    """Also if its settings are damaged; and one that is named is not replaced by another."""
    folder = shutil.copytree(saved_twice, tmp_path / "copy")
    newest = max((folder / "runs/latest").glob("checkpoint_*"))
    flip(newest / "optimizer.bin")
    named = resume(saved_twice, folder, str(newest.relative_to(folder)))
    assert_refused(named, f"No complete checkpoint to resume: {newest.relative_to(folder)}.")
    saved = (newest / "config.json").read_text()
    (newest / "config.json").write_text(saved.replace('"seed": 0', '"seed": 1'))
    result = resume(saved_twice, folder)
    assert result.returncode == 0, result.stderr
    said = "runs/latest/checkpoint_00000008 is damaged or incomplete: "
    assert re.search(rf"^{said}(?=.*optimizer.bin)(?=.*config.json)", result.stdout, re.MULTILINE)
    assert "resumed from runs/latest/checkpoint_00000004 at step 4" in result.stdout
    moved = folder / "runs/latest/checkpoint_00000008.damaged"
    assert (moved / "config.json").read_text() != saved, "the damaged one is kept"
    for path in (folder / "runs/latest").glob("checkpoint_*"):
        flip(path / "loop.pt")
    assert_refused(resume(saved_twice, folder), "No complete checkpoint to resume: ")


def test_checksums_can_be_added_to_a_run(stopped: Path, tmp_path: Path) -> None:
    """And the feature can be turned off again."""
    folder = shutil.copytree(stopped, tmp_path / "copy")
    write_files(folder, render({"features.checksums.enabled": True}))
    result = resume(stopped, folder)
    assert result.returncode == 0 and "damaged" not in result.stdout, result.stderr
    assert "resumed from runs/latest/checkpoint_00000004 at step 4" in result.stdout
    assert list((folder / "runs/latest").glob("checkpoint_00000008/digests.json"))
    write_files(folder, render({}))
    result = run(folder, "train.py", "--epochs", "3", "--resume")
    assert "resumed from runs/latest/checkpoint_00000008 at step 8" in result


def test_checkpoints_of_earlier_versions_are_refused(stopped: Path, tmp_path: Path) -> None:
    """They have other files."""
    folder = shutil.copytree(stopped, tmp_path / "copy")
    path = only_checkpoint(folder) / "loop.pt"
    path.rename(path.with_name("states.pt"))
    path.with_name("checkpoint.json").write_text("{}")
    result = resume(stopped, folder)
    assert_refused(result, "No complete checkpoint to resume: runs/latest/checkpoint_00000004.")


FULL = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
sys.argv = sys.argv[1:]
runpy.run_path("train.py", run_name="__main__")
"""


@pytest.mark.every_run
def test_a_full_disk_keeps_the_older_checkpoints(stopped: Path, tmp_path: Path) -> None:
    """No file may become larger than 50 KB here: writing fails as it does on a full disk."""
    folder = shutil.copytree(stopped, tmp_path / "copy")
    before = {path: path.read_bytes() for path in only_checkpoint(folder).iterdir()}
    command = ["train.py", "--epochs", "2", "--limit-batches", "4", "--resume"]
    result = start(folder, ["-c", FULL, *command])
    assert result.returncode != 0 and "File too large" in result.stderr, result.stderr
    assert {path: path.read_bytes() for path in only_checkpoint(folder).iterdir()} == before
    assert resume(stopped, folder).returncode == 0


def test_a_folder_that_can_not_be_written_ends_a_run_at_once(stopped: Path) -> None:
    result = start(stopped, ["train.py", "--output-dir", "train.py/runs"])
    assert result.stderr.endswith(
        "NotADirectoryError: [Errno 20] Not a directory: 'train.py/runs'\n"
    )
    assert result.returncode == 1 and result.stdout == ""


MINUTES = """
import os, sys, types
import checkpoint, train
from pathlib import Path

ticks = iter(range(0, 10**6, 30))  # each look at the clock of the main process is 30 seconds later
main_process = os.environ.get("RANK", "0") == "0"
checkpoint.time = types.SimpleNamespace(monotonic=lambda: next(ticks) if main_process else 0)
train.main(
    train.Config(
        output_dir=Path("runs", sys.argv[1]),
        epochs=1,
        limit_batches=12,
        log_every=2,
        checkpoint_every=int(sys.argv[1]),
        checkpoint_unit="minutes",
        keep_checkpoints=99,
    )
)
"""


@pytest.mark.parametrize("processes", [1, 2])
def test_checkpoints_by_the_clock_of_the_main_process(processes: int, tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", render({"training.checkpoint_unit": "minutes"}))
    (project / "minutes.py").write_text(MINUTES)
    for every, steps in (("1", ["04", "08", "12"]), ("0", ["12"])):
        run(project, "minutes.py", every, processes=processes)
        saved = (project / "runs" / every).glob("checkpoint_*")
        assert sorted(path.name[-2:] for path in saved) == steps
