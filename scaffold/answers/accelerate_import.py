"""Answers from an `accelerate config` file.

Accelerate itself silently accepts misspelled values and nested keys. Here each one is reported.
"""

import difflib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scaffold.answers.accelerate_config import LISTS, SHARDED, UPPER, USUAL, named_options
from scaffold.answers.catalog import Catalog, Option, Value
from scaffold.answers.check import check
from scaffold.answers.read import read_small_file
from scaffold.answers.resolve import Answers, applies, default_answers
from scaffold.errors import AnswerError, ScaffoldError

# keys of older versions and of Accelerate's launcher, and their names in its questionnaire
RENAMED = {
    "fsdp_config.fsdp_sharding_strategy": "fsdp_config.fsdp_reshard_after_forward",
    "fsdp_config.fsdp_backward_prefetch_policy": "fsdp_config.fsdp_backward_prefetch",
    "dynamo_backend": "dynamo_config.dynamo_backend",
    "fp8_config.amax_compute_algo": "fp8_config.amax_compute_algorithm",
    "fp8_config.amax_history_len": "fp8_config.amax_history_length",
    "fp8_config.opt_level": "fp8_config.optimization_level",
}
# tables in which Accelerate accepts a key with and without this prefix
PREFIXES = {"fsdp_config": "fsdp_", "dynamo_config": "dynamo_"}
# settings that a project keeps elsewhere
ELSEWHERE = {
    "deepspeed_config.gradient_accumulation_steps": "training.gradient_accumulation_steps",
    "deepspeed_config.gradient_clipping": "features.clipping.max_norm",
}
# keys that Accelerate fills in itself and that no answer changes
FIXED = {*USUAL, "compute_environment", "distributed_type", "base_job_name", "additional_args"} | {
    "pytorch_version", "transformers_version", "py_version", "fp8_config.override_linear_precision",
    "mpirun_config.mpirun_ccl",
    *(
        f"parallelism_config.parallelism_config_sp_{name}"
        for name in ("backend", "seq_length", "seq_length_is_variable", "attn_implementation")
    ),
}  # fmt: skip
# what neither its questionnaire nor scaffold asks for, and the value that changes nothing
UNASKED = {
    "fsdp_config.fsdp_activation_checkpointing_offload": False,
    "parallelism_config.parallelism_config_cp_backend": "torch",
    "parallelism_config.parallelism_config_sp_size": 1,
}
LOCAL, SAGEMAKER = "LOCAL_MACHINE", "AMAZON_SAGEMAKER"
DEFAULT = "default"  # instead of a path: the file that `accelerate config` writes


def default_file(environment: Mapping[str, str] = os.environ) -> Path:
    """The path that `accelerate config` writes to, found as Accelerate finds it."""
    cache = Path(environment.get("XDG_CACHE_HOME", "~/.cache"))
    home = Path(environment.get("HF_HOME", cache / "huggingface"))
    folder = home.expanduser() / "accelerate"
    old = folder / "default_config.json"
    new = folder / "default_config.yaml"
    return old if old.is_file() and not new.is_file() else new


def read_accelerate_config(catalog: Catalog, name: str, under: Answers, over: Answers) -> Answers:
    """The answers in an Accelerate file that have an effect.

    They override those in `under`; those in `over` override them. Raises ScaffoldError for a file
    that can't be read, a key that Accelerate does not have, and a value that is not allowed.
    """
    path = default_file() if name == DEFAULT else Path(name).expanduser()
    if not path.is_file():
        hint = "`accelerate config` creates it" if name == DEFAULT else "name an existing file"
        raise ScaffoldError(f"{path}: there is no such file: {hint}.")
    config = _flatten(path, _load(path))
    try:
        answers = dict(_answers(catalog, config))
        return _with_effect(catalog, answers, under, over)
    except AnswerError as error:
        raise ScaffoldError(f"{path}: {error}") from None


def _load(path: Path) -> dict[str, Any]:
    import yaml

    try:
        text = read_small_file(path)
        is_json = path.suffix == ".json"
        # an alias stands for a value of any size
        if not is_json and any(isinstance(part, yaml.AliasEvent) for part in yaml.parse(text)):
            raise ScaffoldError(f"{path}: has an alias, as in *name: write its value out.")
        data = json.loads(text) if is_json else yaml.safe_load(text)
    except OSError as error:
        raise ScaffoldError(f"{path}: can't be read: {error.strerror}.") from None
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        reason = str(error).partition("\n")[0]
        kind = "JSON" if path.suffix == ".json" else "YAML"
        raise ScaffoldError(f"{path}: is not valid {kind}: {reason}.") from None
    if not isinstance(data, dict) or not isinstance(data.get("distributed_type"), str | bool):
        raise ScaffoldError(
            f"{path}: is not an `accelerate config` file: distributed_type is missing."
        )
    return data


def _flatten(path: Path, data: Mapping[str, Any]) -> dict[str, Any]:
    """Values by their dotted path, without empty ones.

    Each key has the name that Accelerate's questionnaire uses today.
    """
    config = {}
    for key, value in data.items():
        rows = value.items() if isinstance(value, dict) else [(None, value)]
        for name, row in rows:
            place = f"{key}.{name}" if name else str(key)
            if isinstance(row, dict):
                raise ScaffoldError(f"{path}: {place}: a table is not allowed here.")
            if row is not None and row != []:
                config[_current_name(place)] = row
    if config.pop("fp16", False) is True:  # in files of older versions
        config.setdefault("mixed_precision", "fp16")
    return config


def _current_name(place: str) -> str:
    table, _, name = place.partition(".")
    if table in PREFIXES and name:
        place = f"{table}.{PREFIXES[table]}{name.removeprefix(PREFIXES[table])}"
    elif table == "fp8_config" and name != "fp8_format":
        place = f"{table}.{name.removeprefix('fp8_')}"
    return RENAMED.get(place, place)


def _answers(catalog: Catalog, config: dict[str, Any]) -> Iterator[tuple[str, Value]]:
    for key, answer in _device_answers(catalog, config):
        yield key, check(catalog.settings[key], answer)
    if any(place.startswith("fsdp_config.") for place in config):
        config.setdefault("fsdp_config.fsdp_version", 1)  # Accelerate's default
    if any(place.startswith("parallelism_config.") for place in config):
        _check_parallelism(config)
        yield "parallelism.enabled", True
    options: dict[str, list[Option]] = {}
    for option in named_options(catalog):
        options.setdefault(option.accelerate, []).append(option)
    for place, value in config.items():
        if place in options:
            option = _choose(options[place], config)
            if option.key != "hardware.use_cpu":
                yield option.key, check(option, _read(option, value))
        elif place in ELSEWHERE:
            yield from _loop_answer(catalog.settings[ELSEWHERE[place]], value)
        elif place in UNASKED:
            if value != UNASKED[place]:
                raise AnswerError(
                    place, f"scaffold has no setting for {value!r}: delete it from the file."
                )
        elif place not in FIXED:
            near = difflib.get_close_matches(place, [*options, *ELSEWHERE, *FIXED], n=1)
            hint = f": did you mean {near[0]}?" if near else "."
            raise AnswerError(place, f"is not an Accelerate setting{hint}")
    yield from _higher_precision(config)


def _check_parallelism(config: Mapping[str, Any]) -> None:
    """Accelerate refuses to start it without FSDP."""
    sizes = [row for row in config if re.fullmatch(r"parallelism_config\..*_size", row)]
    used = [place for place in sizes if config[place] != 1 and place not in UNASKED]
    if used and config["distributed_type"].upper() != "FSDP":
        raise AnswerError(
            used[0],
            f"Accelerate uses {config[used[0]]} with `distributed_type: FSDP` alone: set that, or "
            "delete parallelism_config.",
        )


def _device_answers(catalog: Catalog, config: Mapping[str, Any]) -> Iterator[tuple[str, Value]]:
    kind, environment = config["distributed_type"], config.get("compute_environment", LOCAL)
    if isinstance(kind, bool):
        raise AnswerError("distributed_type", "NO without quotes is a boolean: write 'NO'.")
    if environment not in (LOCAL, SAGEMAKER):
        allowed = f"use {LOCAL} or {SAGEMAKER}."
        raise AnswerError("compute_environment", f"{environment!r} is not allowed: {allowed}")
    option = catalog.settings["hardware.use_cpu"]
    cpu = check(option, _read(option, config.get("use_cpu", False)))
    kind = kind.upper()
    if environment == SAGEMAKER:
        yield "hardware.launcher", "sagemaker"
        yield "hardware.distributed_type", "NO"
        yield "sagemaker.distributed_type", kind
        return
    sharding = next((ours for ours, theirs in SHARDED.items() if theirs == kind), "none")
    if kind == "MEGATRON_LM":
        sharding = "megatron_lm"  # which is refused, with the reason
    if sharding != "none":
        yield "hardware.sharding", sharding
        several = sharding == "fsdp" or config.get("num_processes") != 1
        kind = "MULTI_GPU" if several else "NO"
    if kind == "MULTI_GPU" and cpu:
        kind = "MULTI_CPU"
    yield "hardware.distributed_type", "XLA" if kind == "TPU" else kind
    yield "hardware.use_cpu", cpu is True or kind == "MULTI_CPU"


def _choose(options: list[Option], config: Mapping[str, Any]) -> Option:
    """Of the options with this key, the one for the file's FSDP version."""
    version = config.get("fsdp_config.fsdp_version")
    for option in options:
        condition = option.when.get("fsdp.version")
        if condition is None or condition.holds(version or 2):
            return option
    return options[0]


def _read(option: Option, value: Any) -> Any:
    """A value of the file in the option's type. Accelerate accepts some as text or as a number."""
    if option.key == "hardware.mixed_precision" and value is False:
        return "no"
    if option.key in (*UPPER, "hardware.mixed_precision"):
        return str(value).lower()
    if option.accelerate in LISTS and isinstance(value, list):
        return ",".join(map(str, value))
    if option.type == "bool" and str(value).lower() in ("true", "false"):
        return str(value).lower() == "true"
    if option.key == "fsdp.sharding_strategy":
        numbers = {str(number): choice.value for number, choice in enumerate(option.choices, 1)}
        return numbers.get(str(value), value)
    if option.type in ("int", "float") and isinstance(value, str):
        return _number(option, value)
    if option.type == "str" and not isinstance(value, bool):
        return str(value)
    return value


def _number(option: Option, value: str) -> int | float | str:
    try:
        return int(value) if option.type == "int" else float(value)
    except ValueError:
        return value  # which is rejected, with a message that says what is allowed


def _loop_answer(option: Option, value: Any) -> Iterator[tuple[str, Value]]:
    if value in ("auto", "none"):
        return
    answer = check(option, _read(option, value))
    # every project writes 1 here: the loop accumulates, not DeepSpeed
    if answer != 1 or option.key != "training.gradient_accumulation_steps":
        yield option.key, answer


def _higher_precision(config: Mapping[str, Any]) -> Iterator[tuple[str, Value]]:
    place, names = "fp8_config.override_linear_precision", ("fprop", "dgrad", "wgrad")
    if place not in config:
        return
    values = config[place]
    if not isinstance(values, list) or [type(value) for value in values] != [bool] * 3:
        allowed = "use a list of three, each true or false."
        raise AnswerError(place, f"{values!r} is not allowed: {allowed}")
    for name, value in zip(names, values, strict=True):
        yield f"fp8.higher_{name}", value


def _with_effect(catalog: Catalog, answers: Answers, under: Answers, over: Answers) -> Answers:
    """Without answers that have no effect, such as a machine's address where SLURM finds it."""
    checked = {key: check(catalog.settings[key], value) for key, value in answers.items()}
    every = {**default_answers(catalog, {}), **under, **checked, **over}
    return {
        key: value
        for key, value in checked.items()
        if applies(catalog, catalog.settings[key], every)
    }
