"""Launch files: what they ask for, and that they start, stop and go on with what they say."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from support import training
from support.command_line import Cli
from support.files import write_files
from support.paths import REPOSITORY
from support.rendering import render
from support.training import clean_environment, count_processes, only_in_sweep

Answers = dict[str, Value]

FILES = {
    "accelerate": set(),
    "torchrun": {"train.sh"},
    "slurm": {"train.sbatch"},
    "trainjob": {"trainjob.yaml", "runtime.yaml", "Dockerfile"},
    "pytorchjob": {"pytorchjob.yaml", "Dockerfile"},
    "notebook": {"train.ipynb"},
    "sagemaker": {"sagemaker_job.py", "requirements.txt"},
}
LAUNCHERS = [choice.value for choice in load_catalog().settings["hardware.launcher"].choices]
TWO_BY_TWO: Answers = {"hardware.num_machines": 2, "hardware.num_processes": 4}
TWO: Answers = {"hardware.distributed_type": "MULTI_CPU", "hardware.num_processes": 2}
TWO_MACHINES: Answers = {**TWO, "hardware.num_machines": 2}
# definitions of Kubeflow's kinds, which are no part of this repository
SCHEMAS = REPOSITORY.parent / "shared" / "schemas"


def with_launcher(launcher: str, given: Mapping[str, Value] = {}) -> Mapping[str, str]:
    """The files of a project with a launcher."""
    return render({"hardware.launcher": launcher, **given})


def settings(sbatch: str) -> dict[str, str]:
    """What an sbatch file asks for."""
    rows = [line.split(" ", 1)[1] for line in sbatch.splitlines() if line.startswith("#SBATCH")]
    return dict(row.removeprefix("--").partition("=")[::2] for row in rows)


# --- what is written ---------------------------------------------------------------------------


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_launcher_brings_its_files_and_no_others(launcher: str, cli: Cli, tmp_path: Path) -> None:
    files = with_launcher(launcher)
    restarted = launcher in ("slurm", "trainjob", "pytorchjob", "sagemaker")
    assert ("preemption.py" in files) == ("integrity.py" in files) == restarted
    usual = render({f"features.{n}.enabled": restarted for n in ("preemption", "checksums")})
    assert files.keys() - usual.keys() == FILES[launcher]
    result = cli("new", tmp_path / "p", "--yes", "--set", f"hardware.launcher={launcher}")
    command = result.out.splitlines()[-2].strip()
    words = command.split()
    assert (tmp_path / "p" / words[-1]).is_file()
    assert command in files["README.md"]
    assert '"auto"' not in usual["checkpoint.py"]
    for name in FILES[launcher]:
        assert f"`{name}`" in files["README.md"]


def test_the_processes_of_a_machine_follow_from_all() -> None:
    assert "--nnodes 2 " in with_launcher("torchrun", TWO_BY_TWO)["train.sh"]
    assert "--nproc-per-node 2 " in with_launcher("torchrun", TWO_BY_TWO)["train.sh"]
    asked = settings(with_launcher("slurm", TWO_BY_TWO)["train.sbatch"])
    assert (asked["nodes"], asked["ntasks-per-node"], asked["gres"]) == ("2", "2", "gpu:2")
    runtime, job = documents("trainjob", TWO_BY_TWO)
    trainer = job["spec"]["trainer"]
    assert (trainer["numNodes"], trainer["numProcPerNode"]) == (2, 2)
    assert trainer["resourcesPerNode"]["limits"] == {"nvidia.com/gpu": 2}
    assert runtime["spec"]["mlPolicy"]["numNodes"] == 2
    [job] = documents("pytorchjob", TWO_BY_TWO)
    assert job["spec"]["nprocPerNode"] == "2"
    replicas = job["spec"]["pytorchReplicaSpecs"]
    assert {name: row["replicas"] for name, row in replicas.items()} == {"Master": 1, "Worker": 1}
    assert replicas["Master"]["template"] == replicas["Worker"]["template"]
    assert (
        "num_processes=4" in with_launcher("notebook", {"hardware.num_processes": 4})["train.ipynb"]
    )


def test_what_accelerate_launch_would_set_is_set() -> None:
    chosen = {"hardware.num_processes": 2, "hardware.gpu_ids": "0,3", "hardware.debug": True}
    script = with_launcher("torchrun", chosen)["train.sh"]
    assert "export CUDA_VISIBLE_DEVICES=0,3\n" in script
    assert "export ACCELERATE_DEBUG_MODE=true\n" in script
    intel = {**chosen, "hardware.distributed_type": "MULTI_XPU"}
    assert "export ZE_AFFINITY_MASK=0,3\n" in with_launcher("torchrun", intel)["train.sh"]
    notebook = json.loads(with_launcher("notebook", chosen)["train.ipynb"])
    sources = "".join("".join(cell["source"]) for cell in notebook["cells"])
    assert 'os.environ["CUDA_VISIBLE_DEVICES"] = "0,3"' in sources


def test_sbatch_asks_for_what_was_answered() -> None:
    asked = settings(with_launcher("slurm")["train.sbatch"])
    assert not {"partition", "account", "mem", "array"} & asked.keys()
    assert asked["signal"] == "B:USR1@120"
    assert {"requeue", "open-mode"} < asked.keys()
    given = {
        "slurm.time": "2-12:00:00", "slurm.partition": "long", "slurm.account": "lab",
        "slurm.memory": "64G", "slurm.device": "gpu:a100", "slurm.cpus_per_task": 12,
        "slurm.save_before": 300, "slurm.seeds": 5,
    }  # fmt: skip
    script = with_launcher("slurm", given)["train.sbatch"]
    asked = settings(script)
    assert asked | {
        "time": "2-12:00:00", "partition": "long", "account": "lab", "mem": "64G",
        "gres": "gpu:a100:1", "cpus-per-task": "12", "signal": "B:USR1@300", "array": "0-4",
        "output": "slurm-%A_%a.out",
    } == asked  # fmt: skip
    assert '--seed "$SLURM_ARRAY_TASK_ID"' in script
    assert "gres" not in settings(with_launcher("slurm", TWO)["train.sbatch"])


def test_shells_can_read_the_scripts() -> None:
    many: Answers = {"slurm.seeds": 3, "slurm.memory": "1G"}
    for launcher, name in (("torchrun", "train.sh"), ("slurm", "train.sbatch")):
        for given in ({}, TWO, TWO_MACHINES, TWO_BY_TWO, many if launcher == "slurm" else {}):
            text = with_launcher(launcher, given)[name]
            result = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
            assert not result.stderr
            assert result.returncode == 0
            assert max(map(len, text.splitlines())) <= 100
            assert "\n\n\n" not in text


def documents(launcher: str, given: Mapping[str, Value]) -> list[Any]:
    """What Kubernetes gets. The job is the last."""
    files = with_launcher(launcher, given)
    names = [name for name in ("runtime.yaml", f"{launcher}.yaml") if name in files]
    return [yaml.safe_load(files[name]) for name in names]


KUBERNETES: dict[str, Answers] = {
    "one device": {},
    "the CPU": {"hardware.use_cpu": True},
    "two machines": TWO_BY_TWO,
    "all settings": {
        **TWO_BY_TWO,
        "hardware.debug": True,
        "kubernetes.image": "ghcr.io/lab/train@sha256:0123",
        "kubernetes.namespace": "team-a",
        "kubernetes.claim": "no",
        "kubernetes.device": "amd.com/gpu",
        "kubernetes.memory": "1Ti",
        "kubernetes.grace_period": 1,
        "kubernetes.max_restarts": 0,
        "project.name": "8.Very_Long-Name" + "x" * 60,
    },
}


@pytest.mark.parametrize("launcher", ["trainjob", "pytorchjob"])
@pytest.mark.parametrize("label", KUBERNETES)
def test_kubernetes_gets_what_was_answered(launcher: str, label: str) -> None:
    """What is in no schema: names, and what keeps a run that was stopped."""
    given = {"kubernetes.claim": "runs", "kubernetes.namespace": "default", **KUBERNETES[label]}
    jobs = documents(launcher, given)
    for job in jobs:
        name = job["metadata"]["name"]
        assert name.replace("-", "").isalnum() and name.islower() and len(name) <= 45
        assert name[0].isalpha() and name[-1].isalnum()
        assert job["metadata"]["namespace"] == given["kubernetes.namespace"]
    if launcher == "trainjob":
        runtime, job = jobs
        assert job["spec"]["runtimeRef"]["name"] == runtime["metadata"]["name"]
        container = job["spec"]["trainer"]
        [node] = runtime["spec"]["template"]["spec"]["replicatedJobs"]
        pod = node["template"]["spec"]["template"]["spec"]
        assert pod["containers"][0]["image"] == container["image"]
        devices = container["resourcesPerNode"].get("limits", {})
        assert node["template"]["spec"]["backoffLimit"] == 0
        restarts = runtime["spec"]["template"]["spec"]["failurePolicy"]["maxRestarts"]
    else:
        master = jobs[0]["spec"]["pytorchReplicaSpecs"]["Master"]
        assert master["restartPolicy"] == "OnFailure"
        pod = master["template"]["spec"]
        container = pod["containers"][0]
        devices = container["resources"].get("limits", {})
        restarts = jobs[0]["spec"]["runPolicy"]["backoffLimit"]
    assert container["args"] == ["--resume", "auto"]
    mounts = {row["name"]: row["mountPath"] for row in pod["containers"][0]["volumeMounts"]}
    assert mounts["runs"] == "/workspace/runs"
    claims = [row["persistentVolumeClaim"] for row in pod["volumes"] if row["name"] == "runs"]
    assert claims == [{"claimName": given["kubernetes.claim"]}]
    assert restarts == given.get("kubernetes.max_restarts", 20)
    assert bool(devices) != bool(given.get("hardware.use_cpu"))
    assert all(isinstance(row["value"], str) for row in container["env"])


def strict(schema: Any) -> Any:
    """The schema, which also refuses what it does not name: a cluster would drop it silently."""
    if isinstance(schema, dict):
        known = "properties" in schema and "x-kubernetes-preserve-unknown-fields" not in schema
        more = {"additionalProperties": False} if known else {}
        return {name: strict(row) for name, row in schema.items()} | more
    return [strict(row) for row in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize(
    ("launcher", "file"),
    [
        ("trainjob", "kubeflow-trainjob-crd-v2.3.0.yaml"),
        ("pytorchjob", "kubeflow-pytorchjob-crd-v1.9.yaml"),
    ],
)
@pytest.mark.parametrize("label", KUBERNETES)
def test_kubernetes_knows_the_files(launcher: str, file: str, label: str) -> None:
    if not (SCHEMAS / file).is_file():
        pytest.skip(f"the definition of the kind is not there: {SCHEMAS / file}")
    import jsonschema

    definition = yaml.safe_load((SCHEMAS / file).read_text())
    [version] = [row for row in definition["spec"]["versions"] if row["storage"]]
    schema = strict(version["schema"]["openAPIV3Schema"])
    schema["properties"]["metadata"] = {}
    job = documents(launcher, KUBERNETES[label])[-1]
    group = definition["spec"]["group"]
    assert job["apiVersion"] == f"{group}/{version['name']}"
    assert job["kind"] == definition["spec"]["names"]["kind"]
    jsonschema.validate(job, schema)
    job["spec"]["wrong"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(job, schema)


def test_the_notebook_is_one() -> None:
    nbformat = pytest.importorskip("nbformat")
    for given in ({}, TWO, {"hardware.num_processes": 2, "hardware.debug": True}):
        text = with_launcher("notebook", given)["train.ipynb"]
        notebook = nbformat.reads(text, as_version=4)
        nbformat.validate(notebook)
        notebook.cells[0].cell_type = "wrong"
        with pytest.raises(nbformat.ValidationError):
            nbformat.validate(notebook)


def test_sagemaker_is_asked_for_what_was_answered(tmp_path: Path) -> None:
    """The package itself is not needed: what it is called with is noted."""
    given: Answers = {
        "sagemaker.distributed_type": "DATA_PARALLEL",
        "sagemaker.num_machines": 2,
        "sagemaker.sagemaker_inputs_file": "inputs.tsv",
        "sagemaker.sagemaker_metrics_file": "metrics.tsv",
        "sagemaker.iam_role_name": "Role",
        "sagemaker.profile": "",
    }
    (tmp_path / "inputs.tsv").write_text("channel_name\tdata_location\ntrain\ts3://b/t\n")
    (tmp_path / "metrics.tsv").write_text('metric_name\tmetric_regex\nloss\tloss "?([0-9.]+)\n')
    boto3, estimators = mock.MagicMock(), mock.MagicMock()
    modules = {"boto3": boto3, "sagemaker": mock.MagicMock(), "sagemaker.pytorch": estimators}
    code = with_launcher("sagemaker", given)["sagemaker_job.py"]
    with pytest.MonkeyPatch.context() as patch, mock.patch.dict(sys.modules, modules):
        patch.chdir(tmp_path)
        patch.setattr(sys, "argv", ["sagemaker_job.py", "--epochs", "5"])
        exec(code, {"__name__": "__main__"})
    boto3.Session.assert_called_once_with(profile_name=None, region_name="us-east-1")
    arguments = estimators.PyTorch.call_args.kwargs
    assert arguments["distribution"] == {"torch_distributed": {"enabled": True}}
    assert (arguments["instance_count"], arguments["role"]) == (2, "Role")
    assert arguments["metric_definitions"] == [{"Name": "loss", "Regex": 'loss "?([0-9.]+)'}]
    flags = {"output-dir": "/opt/ml/checkpoints", "resume": "auto", "epochs": "5"}
    assert arguments["hyperparameters"] == flags
    estimators.PyTorch().fit.assert_called_once_with({"train": "s3://b/t"})
    plain = with_launcher("sagemaker")["sagemaker_job.py"]
    assert "distribution" not in plain and "estimator.fit()" in plain
    assert "sagemaker" not in with_launcher("sagemaker")["requirements.txt"].partition("\n")[2]


# --- what they start ---------------------------------------------------------------------------

SHORT = ["--epochs", "2", "--limit-batches", "5", "--log-every", "1"]
WEIGHTS = "runs/latest/model.safetensors"
NAMED = [*SHORT, "--output-dir", "runs/latest"]  # not by the time


def start(project: Path, *command: str, **environment: str) -> "subprocess.Popen[str]":
    folder = str(Path(sys.executable).parent)
    path = os.pathsep.join([folder, os.environ["PATH"]])
    return subprocess.Popen(
        command,
        cwd=project,
        env={**clean_environment(), "PATH": path, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(*started: "subprocess.Popen[str]", timeout: float = 240) -> list[str]:
    """What the processes printed. All of them must end well."""
    outputs = []
    try:
        for process in started:
            out, err = process.communicate(timeout=timeout)
            assert process.returncode == 0, err
            outputs.append(out)
    finally:
        for process in started:
            process.kill()
    return outputs


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run of two processes, started by train.sh."""
    project = write_files(tmp_path_factory.mktemp("two"), with_launcher("torchrun", TWO))
    [out] = finish(start(project, "bash", "train.sh", *NAMED))
    assert count_processes(out) == 2
    return project


@only_in_sweep
def test_train_sh_starts_one_process(tmp_path: Path) -> None:
    files = with_launcher("torchrun", {"hardware.use_cpu": True})
    project = write_files(tmp_path / "a name with spaces", files)
    [out] = finish(start(tmp_path, "bash", str(project / "train.sh"), *NAMED))
    assert count_processes(out) == 1
    assert (project / WEIGHTS).is_file(), "it runs in its own folder"


@only_in_sweep
def test_train_sh_passes_a_signal_on(tmp_path: Path) -> None:
    """Told to stop, all processes save, and a resumed run ends with the same bits."""
    answers: Answers = {**TWO, "features.preemption.enabled": True}
    project = write_files(tmp_path / "project", with_launcher("torchrun", answers))
    flags = ["--epochs", "6", "--limit-batches", "5", "--log-every", "1"]
    assert not training.start(project, ["train.py", *flags], 2).returncode
    cut = ["bash", "train.sh", *flags, "--output-dir", "runs/cut"]
    process = start(project, *cut)
    assert process.stdout
    while not process.stdout.readline().startswith("step 3/"):
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "stopped by a signal at step" in out, err
    finish(start(project, *cut, "--resume"))
    final = project / "runs/cut/model.safetensors"
    assert final.read_bytes() == (project / WEIGHTS).read_bytes()


@only_in_sweep
def test_train_sh_on_two_machines(two_processes: Path, tmp_path: Path) -> None:
    """The same command on each, as two launches on this one."""
    answers: Answers = {**TWO_MACHINES, "hardware.main_process_port": free_port()}
    project = write_files(tmp_path / "project", with_launcher("torchrun", answers))
    command = ["bash", "train.sh", *NAMED]
    outputs = finish(start(project, *command), start(project, *command))
    assert sorted("2 process(es) on cpu" in out for out in outputs) == [False, True]
    assert (project / WEIGHTS).read_bytes() == (two_processes / WEIGHTS).read_bytes()


@only_in_sweep
def test_accelerate_launch_on_two_machines(two_processes: Path, tmp_path: Path) -> None:
    answers: Answers = {**TWO_MACHINES, "hardware.main_process_port": free_port()}
    project = write_files(tmp_path / "project", render(answers))
    command = "accelerate launch --config_file accelerate.yaml --machine_rank"
    assert f"{command} 0 train.py" in (project / "README.md").read_text()
    started = [start(project, *f"{command} {rank} train.py".split(), *NAMED) for rank in (0, 1)]
    outputs = finish(*started)
    assert count_processes("".join(outputs)) == 2
    assert (project / WEIGHTS).read_bytes() == (two_processes / WEIGHTS).read_bytes()


@only_in_sweep
@pytest.mark.parametrize("launcher", ["trainjob", "pytorchjob"])
def test_pods_begin_and_go_on(launcher: str, two_processes: Path, tmp_path: Path) -> None:
    """The command in the file, in the environment that the operator gives a pod."""
    job = documents(launcher, TWO_MACHINES)[-1]["spec"]
    pods = (
        job["trainer"]
        if launcher == "trainjob"
        else (job["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0])
    )
    command = [*pods["command"], *pods["args"], *SHORT]
    project = write_files(tmp_path / "project", with_launcher(launcher, TWO_MACHINES))
    for expected in ("step 1/10", "resumed from runs/latest/checkpoint_00000010 at step 10"):
        port, nodes = str(free_port()), []
        for rank in range(2):
            # Source: pkg/runtime/framework/plugins/torch/torch.go of Kubeflow Trainer 2.3, and
            # pkg/controller.v1/pytorch/envvar.go of the training operator 1.9
            facts = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "NNODES": "2"}
            facts |= {"NPROC_PER_NODE": "1", "NODE_RANK": str(rank)}
            environment = {f"PET_{name}": value for name, value in facts.items()}
            environment |= {row["name"]: row["value"] for row in pods["env"]}
            nodes.append(start(project, *command, **environment))
        assert expected in "".join(finish(*nodes))
    assert (project / WEIGHTS).read_bytes() == (two_processes / WEIGHTS).read_bytes()


def code_cells(project: Path) -> list[str]:
    cells = json.loads((project / "train.ipynb").read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def run_cells(project: Path, *cells: str) -> str:
    """What they print, one after the other."""
    script = project.with_name("cells.py")
    script.write_text("\n".join(cells))
    [out] = finish(start(project, sys.executable, str(script), PYTHONPATH=str(project)))
    return out


@pytest.mark.train
@pytest.mark.parametrize("processes", [pytest.param(1, marks=pytest.mark.sweep), 2])
def test_the_cells_of_the_notebook_run(processes: int, tmp_path: Path) -> None:
    """As a person does: train, train again, then go on with what is done."""
    answers: Answers = TWO if processes == 2 else {"hardware.use_cpu": True}
    project = write_files(tmp_path / "project", with_launcher("notebook", answers))
    settings, train, resume = code_cells(project)
    short = "config = Config(epochs=2, limit_batches=5)"
    wait = "import time; time.sleep(1)"  # the second is in the name of a folder
    out = run_cells(project, settings, short, train, wait, train, "config = Config()", resume)
    assert count_processes(out) == processes
    assert len([*(project / "runs").iterdir()]) == 2
    assert re.search(r"resumed from \S+/checkpoint_00000010 at step 10", out)
    assert "epochs is" not in out, "the settings are those of the run"


@pytest.mark.train
def test_the_cells_of_the_minimal_notebook_run(tmp_path: Path) -> None:
    given: Answers = {"project.loop": "minimal", "hardware.use_cpu": True}
    project = write_files(tmp_path / "project", with_launcher("notebook", given))
    settings, train = code_cells(project)
    assert "saved to runs/" in run_cells(project, settings, "config = Config(epochs=1)", train)


# --- SLURM -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """Calls a command of SLURM, on a cluster of two machines that is this one."""
    if not shutil.which("sbatch") or os.geteuid() != 0:
        pytest.skip("SLURM is not installed, or may not be started: apt-get install slurm-wlm")
    folder = tmp_path_factory.mktemp("slurm")
    script = Path(__file__).with_name("slurm.sh")
    log = (folder / "log").open("w")
    cluster = subprocess.Popen(["bash", script, folder], stdout=log, stderr=log)

    def call(*command: str, cwd: Path = folder) -> str:
        paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {key: v for key, v in clean_environment().items() if key[:3] != "OMP"}
        environment |= {"PATH": paths, "SLURM_CONF": str(folder / "slurm.conf")}
        result = subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120
        )
        assert result.returncode == 0, f"{result.stderr}\n{(folder / 'log').read_text()}"
        return result.stdout.strip()

    try:
        wait_until(lambda: (folder / "slurm.conf").exists(), 10)
        time.sleep(3)
        wait_until(lambda: "idle" in call("sinfo", "-h", "-o", "%t"), 30)
        yield call
    finally:
        cluster.terminate()
        cluster.wait(60)
        log.close()


def wait_until(holds: Callable[[], bool], seconds: float, log: Path | None = None) -> None:
    end = time.monotonic() + seconds
    while not holds():
        text = log.read_text() if log and log.exists() else ""
        assert time.monotonic() < end, f"waited for too long\n{text}"
        time.sleep(0.5)


def says(log: Path, text: str) -> Callable[[], bool]:
    return lambda: log.exists() and text in log.read_text()


LONG = ["--epochs", "12"]


@pytest.fixture(scope="module")
def whole(slurm: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two machines that nothing interrupts."""
    files = with_launcher("slurm", {**TWO_MACHINES, "slurm.cpus_per_task": 1})
    project = write_files(tmp_path_factory.mktemp("whole"), files)
    job = slurm("sbatch", "--parsable", "train.sbatch", *LONG, cwd=project)
    log = project / f"slurm-{job}.out"
    wait_until(says(log, "done |"), 240, log)
    assert count_processes(log.read_text()) == 2
    wait_until(lambda: not slurm("squeue", "-h"), 30)
    return project


# an urgent job takes both machines; or the batch script is told, as SLURM does before the time is
# over, and passes it on
WAYS = {
    "preempted": ("sbatch", "-p", "urgent", "-N", "2", "--exclusive", "--wrap", "sleep 1"),
    "time": ("scancel", "--batch", "--signal=USR1"),
}


@pytest.mark.sweep
@pytest.mark.parametrize("way", WAYS)
def test_an_interrupted_job_ends_as_one_that_never_stopped(
    way: str, slurm: Callable[..., str], whole: Path
) -> None:
    """The run saves a checkpoint, is queued again and continues."""
    output = ["--output-dir", f"runs/{way}"]
    job = slurm("sbatch", "--parsable", "train.sbatch", *LONG, *output, cwd=whole)
    log = whole / f"slurm-{job}.out"
    wait_until(says(log, "epoch 2/"), 120, log)
    slurm(*WAYS[way], *[job] * (way == "time"), cwd=whole)
    wait_until(says(log, "done |"), 240, log)
    text = log.read_text()
    assert "stopped by a signal at step" in text
    assert f"resumed from runs/{way}/checkpoint_" in text
    final = [whole / "runs" / name / "model.safetensors" for name in ("latest", way)]
    assert final[0].read_bytes() == final[1].read_bytes()
    wait_until(lambda: not slurm("squeue", "-h"), 30)


@pytest.mark.sweep
def test_the_time_of_a_job_really_ends(slurm: Callable[..., str], tmp_path: Path) -> None:
    """SLURM itself says that the minute is nearly over."""
    answers = {**TWO, "slurm.time": "1", "slurm.save_before": 30, "slurm.cpus_per_task": 1}
    project = write_files(tmp_path / "project", with_launcher("slurm", answers))
    job = slurm("sbatch", "--parsable", "train.sbatch", "--epochs", "5000", cwd=project)
    log = project / f"slurm-{job}.out"
    wait_until(says(log, "resumed from runs/latest/checkpoint_"), 240, log)
    assert "stopped by a signal at step" in log.read_text()
    slurm("scancel", job)
    wait_until(lambda: not slurm("squeue", "-h"), 60)


@pytest.mark.sweep
def test_an_array_has_a_run_for_each_seed(slurm: Callable[..., str], tmp_path: Path) -> None:
    """One of them is told to stop, and one is cancelled: the others do not notice."""
    answers = {"hardware.use_cpu": True, "slurm.seeds": 3, "slurm.cpus_per_task": 1}
    project = write_files(tmp_path / "project", with_launcher("slurm", answers))
    job = slurm("sbatch", "--parsable", "train.sbatch", *LONG, cwd=project)
    logs = [project / f"slurm-{job}_{seed}.out" for seed in range(3)]
    for log in logs:
        wait_until(says(log, "epoch 2/"), 120, log)
    slurm("scancel", "--batch", "--signal=USR1", f"{job}_2")  # its number is that of the array too
    slurm("scancel", f"{job}_1")
    for seed in (0, 2):
        wait_until(says(logs[seed], "done |"), 240, logs[seed])
    assert "resumed from runs/seed_2/checkpoint_" in logs[2].read_text()
    assert "resumed" not in logs[0].read_text()
    wait_until(lambda: not slurm("squeue", "-h"), 60)
    assert "resumed" not in logs[1].read_text(), "what a person cancels stays cancelled"
    weights = [(project / f"runs/seed_{seed}/model.safetensors").read_bytes() for seed in (0, 2)]
    assert weights[0] != weights[1]


@pytest.mark.sweep
def test_a_run_that_fails_stays_ended(slurm: Callable[..., str], whole: Path) -> None:
    job = slurm("sbatch", "--parsable", "train.sbatch", "--no-such-flag", cwd=whole)
    log = whole / f"slurm-{job}.out"
    wait_until(says(log, "unrecognized arguments"), 60, log)
    wait_until(lambda: not slurm("squeue", "-h"), 180, log)
    assert log.read_text().count("unrecognized arguments") == 2, "once on each machine"
