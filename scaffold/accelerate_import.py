"""Answers from a file of `accelerate config`.

Accelerate itself takes misspelt values and nested keys without a word. Here each is named.
"""

import difflib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scaffold.accelerate_config import LISTS, SHARDED, UPPER, USUAL, named_options
from scaffold.answers import Answers, applies, check, default_answers
from scaffold.catalog import Catalog, Option, Value
from scaffold.errors import AnswerError, ScaffoldError

# keys of older versions, and the ones that took their place
RENAMED = {
    "fsdp_config.fsdp_sharding_strategy": "fsdp_config.fsdp_reshard_after_forward",
    "dynamo_backend": "dynamo_config.dynamo_backend",
}
# what the script of a project says in other settings
ELSEWHERE = {
    "deepspeed_config.gradient_accumulation_steps": "training.gradient_accumulation_steps",
    "deepspeed_config.gradient_clipping": "features.clipping.max_norm",
}
# what Accelerate fills in by itself, and no answer of ours changes
FIXED = {*USUAL, "compute_environment", "distributed_type", "base_job_name", "additional_args"} | {
    "pytorch_version", "transformers_version", "py_version", "fp8_config.override_linear_precision",
}  # fmt: skip
DEFAULT = "default"  # in place of a path: the file that `accelerate config` writes


def default_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Where `accelerate config` writes, as Accelerate works it out."""
    cache = Path(environment.get("XDG_CACHE_HOME", "~/.cache"))
    home = Path(environment.get("HF_HOME", cache / "huggingface"))
    folder = home.expanduser() / "accelerate"
    old = folder / "default_config.json"
    new = folder / "default_config.yaml"
    return old if old.is_file() and not new.is_file() else new


def read_accelerate_config(catalog: Catalog, name: str, under: Answers, over: Answers) -> Answers:
    """The answers that a file of Accelerate stands for, and that have an effect.

    They win over those `under` them; those `over` them win. Raises ScaffoldError for a file that
    can't be read, a key that Accelerate does not have, and a value that can't be.
    """
    path = default_file() if name == DEFAULT else Path(name).expanduser()
    if not path.is_file():
        hint = "`accelerate config` writes it" if name == DEFAULT else "name a file that exists"
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
        text = path.read_text(encoding="utf-8")
        data = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except OSError as error:
        raise ScaffoldError(f"{path}: can't be read: {error.strerror}.") from None
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        reason = str(error).partition("\n")[0]
        kind = "JSON" if path.suffix == ".json" else "YAML"
        raise ScaffoldError(f"{path}: is no {kind}: {reason}.") from None
    if not isinstance(data, dict) or "distributed_type" not in data:
        raise ScaffoldError(f"{path}: is no file of `accelerate config`: no distributed_type.")
    return data


def _flatten(path: Path, data: Mapping[str, Any]) -> dict[str, Any]:
    """Values by their path with dots in it, without what is left open."""
    config = {}
    for key, value in data.items():
        rows = value.items() if isinstance(value, dict) else [(None, value)]
        for name, row in rows:
            place = f"{key}.{name}" if name else str(key)
            if isinstance(row, dict):
                raise ScaffoldError(f"{path}: {place}: a table is not allowed here.")
            if row is not None and row != []:
                config[RENAMED.get(place, place)] = row
    return config


def _answers(catalog: Catalog, config: dict[str, Any]) -> Iterator[tuple[str, Value]]:
    yield from _device_answers(config)
    if any(place.startswith("fsdp_config.") for place in config):
        config.setdefault("fsdp_config.fsdp_version", 1)  # as Accelerate takes it
    if any(place.startswith("parallelism_config.") for place in config):
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
            yield from _loop_answer(ELSEWHERE[place], value)
        elif place not in FIXED:
            near = difflib.get_close_matches(place, [*options, *ELSEWHERE, *FIXED], n=1)
            hint = f": did you mean {near[0]}?" if near else "."
            raise AnswerError(place, f"is no key of Accelerate{hint}")
    for name, value in zip(
        ("fprop", "dgrad", "wgrad"),
        config.get("fp8_config.override_linear_precision", ()),
        strict=False,
    ):
        yield f"fp8.higher_{name}", bool(value)


def _device_answers(config: Mapping[str, Any]) -> Iterator[tuple[str, Value]]:
    kind, cpu = config["distributed_type"], config.get("use_cpu", False)
    if kind is False:
        raise AnswerError("distributed_type", "NO without quotes is a boolean: write 'NO'.")
    kind = str(kind).upper()
    if config.get("compute_environment") == "AMAZON_SAGEMAKER":
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
    """Of the options with one key, that of the version of FSDP."""
    version = config.get("fsdp_config.fsdp_version")
    for option in options:
        condition = option.when.get("fsdp.version")
        if condition is None or condition.holds(version or 2):
            return option
    return options[0]


def _read(option: Option, value: Any) -> Any:
    """A value of the file as the option has it. Accelerate takes some as text or as a number."""
    if option.key in UPPER:
        return str(value).lower()
    if option.accelerate in LISTS and isinstance(value, list):
        return ",".join(map(str, value))
    if option.type == "bool" and str(value).lower() in ("true", "false"):
        return str(value).lower() == "true"
    if option.key == "fsdp.sharding_strategy" and str(value).isdigit():
        return [choice.value for choice in option.choices][int(value) - 1]
    if option.type == "int" and isinstance(value, str) and value.isdigit():
        return int(value)
    if option.type == "str" and not isinstance(value, bool):
        return str(value)
    if option.key == "hardware.mixed_precision" and value is False:
        return "no"
    return value


def _loop_answer(key: str, value: Any) -> Iterator[tuple[str, Value]]:
    if value == "auto":
        return
    if key == "training.gradient_accumulation_steps":
        if int(value) > 1:
            yield key, int(value)
    else:
        yield key, float(value)


def _with_effect(catalog: Catalog, answers: Answers, under: Answers, over: Answers) -> Answers:
    """Without what has no effect beside the rest: no address of a machine where SLURM finds it."""
    checked = {key: check(catalog.settings[key], value) for key, value in answers.items()}
    every = {**default_answers(catalog, {}), **under, **checked, **over}
    return {
        key: value
        for key, value in checked.items()
        if applies(catalog, catalog.settings[key], every)
    }
