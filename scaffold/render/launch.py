"""How a project is started: the commands, and what templates of launch files read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from scaffold.answers.accelerate_config import build_config
from scaffold.answers.catalog import Catalog, Value
from scaffold.answers.hardware import on_tpu_cluster
from scaffold.answers.resolve import applies

# which devices a process sees. Source: accelerate/utils/launch.py of Accelerate 1.15
VISIBLE = {
    "NO": "CUDA_VISIBLE_DEVICES",
    "MULTI_GPU": "CUDA_VISIBLE_DEVICES",
    "MULTI_XPU": "ZE_AFFINITY_MASK",
    "MULTI_NPU": "ASCEND_RT_VISIBLE_DEVICES",
    "MULTI_MLU": "MLU_VISIBLE_DEVICES",
    "MULTI_SDAA": "SDAA_VISIBLE_DEVICES",
    "MULTI_MUSA": "MUSA_VISIBLE_DEVICES",
    "MULTI_NEURON": "NEURON_RT_VISIBLE_CORES",
}
COMMANDS = {
    "torchrun": "bash train.sh",
    "slurm": "sbatch train.sbatch",
    "trainjob": "kubectl apply -f runtime.yaml -f trainjob.yaml",
    "pytorchjob": "kubectl apply -f pytorchjob.yaml",
    "sagemaker": "python sagemaker_job.py",
    "notebook": "jupyter lab train.ipynb",
}
RESUME = ("slurm", "trainjob", "pytorchjob", "sagemaker")  # their files take `--resume auto`


@dataclass(frozen=True)
class Launch:
    """How a project is started."""

    train: str  # the command that starts it
    script: str  # the command that takes the flags of train.py
    machines: int
    processes: int  # on each machine
    environment: Mapping[str, str]  # what `accelerate launch` would set, for other launchers
    resumes: bool  # by itself, when it is started again
    job: str  # the project's name, as Kubernetes allows it
    config: Mapping[str, object]  # accelerate.yaml


def launch(catalog: Catalog, answers: Mapping[str, Value]) -> Launch:
    """How a project with these complete answers is started."""
    launcher = str(answers["hardware.launcher"])
    several = answers["hardware.distributed_type"] != "NO"
    machines = int(answers["hardware.num_machines"]) if several else 1
    script = "python train.py"
    if launcher == "torchrun" or on_tpu_cluster(answers):
        script = COMMANDS["torchrun"]
    elif launcher in ("accelerate", "notebook") and (several or _needs_accelerate(answers)):
        script = "accelerate launch --config_file accelerate.yaml train.py"
    return Launch(
        train=COMMANDS.get(launcher, script),
        script=script,
        machines=machines,
        processes=int(answers["hardware.num_processes"]) // machines,
        environment=_environment(catalog, answers),
        resumes=launcher in RESUME,
        job=_job_name(str(answers["project.name"])),
        config=build_config(catalog, answers),
    )


def _needs_accelerate(answers: Mapping[str, Value]) -> bool:
    """Whether one device too needs what only `accelerate launch` sets."""
    return answers["hardware.sharding"] == "deepspeed" and not answers["hardware.use_cpu"]


def _job_name(name: str) -> str:
    """A label of RFC 1035, short enough that Kubernetes can add to it."""
    label = re.sub("[^a-z0-9]+", "-", name.lower())[:40].strip("-")
    return label if label[0].isalpha() else f"run-{label}"


def _environment(catalog: Catalog, answers: Mapping[str, Value]) -> dict[str, str]:
    """What no argument of a script can say: it must hold before the script begins."""

    def get(name: str) -> Value:
        option = catalog.settings[f"hardware.{name}"]
        return answers[option.key] if applies(catalog, option, answers) else option.default

    found = {}
    if get("gpu_ids") != "all":
        found[VISIBLE[str(get("distributed_type"))]] = str(get("gpu_ids"))
    if get("enable_cpu_affinity"):
        found["ACCELERATE_CPU_AFFINITY"] = "1"
    if get("debug"):
        found["ACCELERATE_DEBUG_MODE"] = "true"
    return found
