"""What hardware answers mean for each other, for `accelerate.yaml`, and for starting a run.

The rest of Accelerate's questionnaire belongs here.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from scaffold.catalog import Value
from scaffold.errors import AnswerError


@dataclass(frozen=True)
class Launch:
    """The commands that start a project."""

    train: str
    config: Mapping[str, Value]  # accelerate.yaml


def complete(answers: dict[str, Value], given: Collection[str]) -> None:
    """Fill in what follows from the given answers, named by their keys.

    Raises AnswerError for a combination that can't work.
    """
    kind, processes, cpu = (
        f"hardware.{name}" for name in ("distributed_type", "num_processes", "use_cpu")
    )
    if kind not in given:
        several = int(answers[processes]) > 1
        several = several or (processes not in given and answers[kind] != "NO")
        answers[kind] = ("MULTI_CPU" if answers[cpu] else "MULTI_GPU") if several else "NO"
    several = answers[kind] != "NO"
    if processes not in given and several != (int(answers[processes]) > 1):
        answers[processes] = 2 if several else 1
    if several and cpu not in given:
        answers[cpu] = answers[kind] == "MULTI_CPU"
    if not several and answers[processes] != 1:
        raise AnswerError(
            processes,
            f"{answers[processes]} processes need {kind}=MULTI_GPU or MULTI_CPU, not NO.",
        )
    if answers[kind] == "MULTI_CPU" and not answers[cpu]:
        raise AnswerError(cpu, f"false contradicts {kind}=MULTI_CPU.")
    if answers[kind] == "MULTI_GPU" and answers[cpu]:
        raise AnswerError(cpu, f"true contradicts {kind}=MULTI_GPU: take MULTI_CPU instead.")
    if answers["hardware.mixed_precision"] == "fp16" and answers[cpu]:
        raise AnswerError(
            "hardware.mixed_precision",
            "'fp16' has no effect on the CPU, where Accelerate computes in 32 bits: "
            "take bf16 or no.",
        )


def launch(answers: Mapping[str, Value]) -> Launch:
    several = answers["hardware.distributed_type"] != "NO"
    cpu = bool(answers["hardware.use_cpu"])
    config: dict[str, Value] = {
        "compute_environment": "LOCAL_MACHINE",
        "debug": False,
        # MULTI_CPU would start a single process: without mpirun, Accelerate starts several
        # processes on the CPU only as those of several GPUs that it is told not to use
        "distributed_type": "MULTI_GPU" if several else "NO",
        "machine_rank": 0,
        "mixed_precision": answers["hardware.mixed_precision"],
        "num_machines": answers["hardware.num_machines"],
        "num_processes": answers["hardware.num_processes"],
        "use_cpu": cpu,
    }
    if several:
        config |= {"rdzv_backend": "static", "same_network": True}
    train = "accelerate launch --config_file accelerate.yaml train.py"
    return Launch(train=train if several else "python train.py", config=config)
