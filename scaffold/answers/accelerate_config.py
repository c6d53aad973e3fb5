"""The file that `accelerate launch` reads, as `accelerate config` would write it.

The field `accelerate` in an option's manifest names the key of its answer in that file. This module
adds the rest: keys that follow from several answers, and keys that no answer changes.

Source: accelerate/commands/config/{cluster,sagemaker,config_args}.py of Accelerate 1.15
"""

from collections.abc import Iterator, Mapping
from typing import Any

from scaffold.answers.catalog import Catalog, Option, Value
from scaffold.answers.resolve import applies

# the distributed type when the model is sharded across several devices
SHARDED = {"fsdp": "FSDP", "deepspeed": "DEEPSPEED"}
# keys that `accelerate config` writes for every machine
USUAL: dict[str, object] = {
    "compute_environment": "LOCAL_MACHINE",
    "debug": False,
    "downcast_bf16": "no",
    "enable_cpu_affinity": False,
    "machine_rank": 0,
    "main_training_function": "main",
    "num_machines": 1,
    "rdzv_backend": "static",
    "same_network": True,
    "tpu_env": [],
    "tpu_use_cluster": False,
    "tpu_use_sudo": False,
    "use_cpu": False,
}
UPPER = ("hardware.dynamo_backend", "fp8.backend")  # upper case in the file
LISTS = ("tpu_env", "tpu_vm", "commands")  # answered as text separated by commas


def build_config(catalog: Catalog, answers: Mapping[str, Value]) -> dict[str, Any]:
    """The content of accelerate.yaml, sorted by key: scalars, lists and tables."""
    config: dict[str, Any] = {} if _on_sagemaker(answers) else dict(USUAL)
    for option in named_options(catalog):
        if applies(catalog, option, answers):
            _put(config, option.accelerate, _write(option, answers[option.key]))
    _add_what_follows(config, answers)
    config["distributed_type"] = _distributed_type(config, answers)
    return dict(sorted((key, _sorted(value)) for key, value in config.items()))


def _add_what_follows(config: dict[str, Any], answers: Mapping[str, Value]) -> None:
    """Add what Accelerate's questionnaire derives from other answers."""
    if _on_sagemaker(answers):
        config["compute_environment"] = "AMAZON_SAGEMAKER"
        config["debug"] = False
        config.setdefault("num_machines", 1)
        del config["num_processes"]
        config.pop("gpu_ids", None)
        config.pop("enable_cpu_affinity", None)
    if answers["hardware.distributed_type"] == "XLA":
        config["main_training_function"] = "start_training"  # of train.py, which takes no arguments
    if "fsdp_config" in config and answers["fsdp.version"] == 1:
        # the process that loads the weights must send them to the others
        config["fsdp_config"].setdefault("fsdp_sync_module_states", True)
    if "deepspeed_config" in config:
        if answers["deepspeed.config_file"]:
            config["mixed_precision"] = None  # the DeepSpeed file sets it
        else:
            # the loop accumulates by itself, and train.py decides about clipping
            config["deepspeed_config"]["gradient_accumulation_steps"] = 1
    if config.get("fp8_config", {}).get("backend") == "TE":
        names = ("fprop", "dgrad", "wgrad")
        higher = [bool(answers[f"fp8.higher_{name}"]) for name in names]
        config["fp8_config"]["override_linear_precision"] = higher


def _on_sagemaker(answers: Mapping[str, Value]) -> bool:
    return answers["hardware.launcher"] == "sagemaker"


def _distributed_type(config: Mapping[str, Any], answers: Mapping[str, Value]) -> str:
    if _on_sagemaker(answers):
        return str(answers["sagemaker.distributed_type"])
    kind = str(answers["hardware.distributed_type"])
    if kind == "MULTI_CPU" and "mpirun_config" not in config:
        # without mpirun, MULTI_CPU starts a single process: Accelerate starts several processes on
        # the CPU only as MULTI_GPU with use_cpu
        return "MULTI_GPU"
    sharding = str(answers["hardware.sharding"])
    return SHARDED.get(sharding, kind) if not answers["hardware.use_cpu"] else kind


def named_options(catalog: Catalog) -> Iterator[Option]:
    """The options that have a key in accelerate.yaml."""
    return (option for option in catalog.settings.values() if option.accelerate)


def _put(config: dict[str, Any], path: str, value: object) -> None:
    if value in ("", None):  # a question without an answer
        return
    table, _, name = path.rpartition(".")
    (config.setdefault(table, {}) if table else config)[name] = value


def _write(option: Option, value: Value) -> object:
    if option.key in UPPER:
        return str(value).upper() if value != "no" else None
    if option.accelerate in LISTS:
        return [row.strip() for row in str(value).split(",") if row.strip()]
    return value


def _sorted(value: Any) -> Any:
    return dict(sorted(value.items())) if isinstance(value, dict) else value
