"""How hardware answers depend on each other: what follows from them, and what can't work."""

from collections.abc import Collection, Iterator, Mapping
from math import prod

from scaffold.answers.catalog import Value
from scaffold.errors import AnswerError

KIND = "hardware.distributed_type"
PROCESSES = "hardware.num_processes"
MACHINES = "hardware.num_machines"
CPU = "hardware.use_cpu"
SHARDING = "hardware.sharding"
PRECISION = "hardware.mixed_precision"
LAUNCHER = "hardware.launcher"
LAYERS = "fsdp.transformer_layer_cls_to_wrap"
SHARDS = "parallelism.dp_shard_size"
SIZES = ("dp_replicate_size", "dp_shard_size", "tp_size", "cp_size")


def complete(answers: dict[str, Value], given: Collection[str], traits: Collection[str]) -> None:
    """Fill in what follows from the given answers; `given` are their keys, `traits` the task's.

    Raises AnswerError for a combination that can't work.
    """
    if KIND not in given:
        answers[KIND] = _kind(answers, given)
    several = answers[KIND] != "NO"
    if PROCESSES not in given and several != (int(answers[PROCESSES]) > 1):
        usual = 8 if answers[KIND] == "XLA" else max(2, int(answers[MACHINES]), _grid(answers))
        answers[PROCESSES] = usual if several else 1
    if several and CPU not in given:
        answers[CPU] = answers[KIND] == "MULTI_CPU"
    if answers["parallelism.enabled"] and SHARDS not in given:
        others = prod(int(answers[f"parallelism.{name}"]) for name in SIZES if name not in SHARDS)
        answers[SHARDS] = max(1, int(answers[PROCESSES]) // others)
    for key, reason in _faults(answers, traits):
        raise AnswerError(key, reason)


def on_tpu_cluster(answers: Mapping[str, Value]) -> bool:
    """Whether train.sh starts training on several machines of one TPU."""
    return answers[KIND] == "XLA" and bool(answers["tpu.tpu_use_cluster"])


def _grid(answers: dict[str, Value]) -> int:
    """The smallest number of processes that fits the parallelism in the answers."""
    if not answers["parallelism.enabled"]:
        return 1
    copies, shards, layers, texts = (int(answers[f"parallelism.{name}"]) for name in SIZES)
    if shards == texts == 1 and max(copies, layers) > 1:
        shards = 2  # both need a sharded model
    return copies * shards * layers * texts


def _kind(answers: dict[str, Value], given: Collection[str]) -> Value:
    """The distributed type that follows from the other answers."""
    kind, processes = answers[KIND], int(answers[PROCESSES])
    several = processes > 1 or (PROCESSES not in given and kind != "NO")
    if PROCESSES not in given and not answers[CPU]:
        several = several or (SHARDING in given and answers[SHARDING] == "fsdp")
    if MACHINES in given and int(answers[MACHINES]) > 1:
        several = True
    if not several:
        return "NO"
    if answers[CPU] and (CPU in given or kind == "NO"):
        return "MULTI_CPU"
    return "MULTI_GPU" if kind == "NO" or (kind == "MULTI_CPU" and CPU in given) else kind


def _faults(answers: dict[str, Value], traits: Collection[str]) -> Iterator[tuple[str, str]]:
    """What can't work: the key of an answer, and why."""
    yield from _device_faults(answers)
    yield from _machine_faults(answers)
    yield from _precision_faults(answers)
    if answers[SHARDING] != "none" and not answers[CPU]:
        yield from _sharding_faults(answers, traits)
    yield from _launcher_faults(answers)


def _device_faults(answers: dict[str, Value]) -> Iterator[tuple[str, str]]:
    kind, processes, cpu = answers[KIND], answers[PROCESSES], answers[CPU]
    if kind == "NO" and processes != 1:
        yield PROCESSES, f"{processes} processes need {KIND}=MULTI_GPU or MULTI_CPU, not NO."
    if kind == "MULTI_CPU" and not cpu:
        yield CPU, f"must be true with {KIND}=MULTI_CPU."
    if kind not in ("NO", "MULTI_CPU") and cpu:
        yield CPU, f"must be false with {KIND}={kind}: use {KIND}=MULTI_CPU."
    if on_tpu_cluster(answers):
        if answers["tpu.tpu_vm"]:
            yield (
                "tpu.tpu_vm",
                "torch_xla 2.9 connects only the machines of one TPU; others would train on their "
                "own: name the TPU in tpu.tpu_name and leave this empty.",
            )
        if answers[LAUNCHER] == "notebook":
            yield LAUNCHER, "a notebook starts the TPU cores of one machine only: use accelerate."
    if kind == "XLA" and answers["hardware.dynamo_backend"] != "no":
        yield "hardware.dynamo_backend", "has no effect on TPUs, where XLA always compiles: use no."


def _machine_faults(answers: dict[str, Value]) -> Iterator[tuple[str, str]]:
    machines, processes = int(answers[MACHINES]), int(answers[PROCESSES])
    if answers[KIND] in ("NO", "XLA"):
        return
    if processes % machines:
        yield (
            PROCESSES,
            f"{processes} processes can't be shared equally by {machines} machines: "
            f"use a multiple of {machines}.",
        )
    if int(answers["hardware.machine_rank"]) >= machines > 1:
        yield "hardware.machine_rank", f"machines are numbered from 0: use 0 to {machines - 1}."


def _precision_faults(answers: dict[str, Value]) -> Iterator[tuple[str, str]]:
    precision = answers[PRECISION]
    if precision == "fp16" and answers[CPU]:
        yield (
            PRECISION,
            "'fp16' has no effect on the CPU, where Accelerate computes in 32 bits: "
            "use bf16 or no.",
        )
    if precision == "fp8" and answers[CPU]:
        yield PRECISION, "'fp8' needs a GPU that supports it: use bf16 or no."
    if precision == "fp8" and answers[KIND] not in ("NO", "MULTI_GPU", "MULTI_HPU"):
        yield PRECISION, f"'fp8' needs NVIDIA or Gaudi devices, not {KIND}={answers[KIND]}."
    if precision != "no" and answers[KIND] == "XLA":
        yield PRECISION, "Accelerate does not set the precision on TPUs: use no."
    msamp = precision == "fp8" and answers["fp8.backend"] == "msamp"
    if msamp and answers[SHARDING] != "none":
        yield "fp8.backend", "MS-AMP does not work with a sharded model: use ao or te."


def _sharding_faults(
    answers: dict[str, Value], traits: Collection[str]
) -> Iterator[tuple[str, str]]:
    kind, sharding = answers[KIND], answers[SHARDING]
    if kind in ("XLA", "MULTI_NEURON"):
        yield SHARDING, f"{sharding} does not run on {KIND}={kind}."
    if sharding == "fsdp" and kind == "NO":
        yield SHARDING, f"fsdp shards a model across several devices: use {KIND}=MULTI_GPU."
    if sharding == "fsdp":
        yield from _fsdp_faults(answers, traits)
        yield from _normalization_faults(answers, traits)
    else:
        yield from _deepspeed_faults(answers, traits)
    if sharding == "fsdp" and answers["parallelism.enabled"]:
        yield from _parallelism_faults(answers)


def _fsdp_faults(answers: dict[str, Value], traits: Collection[str]) -> Iterator[tuple[str, str]]:
    policy, classes = answers["fsdp.auto_wrap_policy"], answers[LAYERS]
    if answers["fsdp.version"] == 2 and policy == "SIZE_BASED_WRAP":
        yield (
            "fsdp.auto_wrap_policy",
            "SIZE_BASED_WRAP also wraps lists of layers, which FSDP 2 can't do: "
            f"use TRANSFORMER_BASED_WRAP and name the layer classes in {LAYERS}.",
        )
    if answers["fsdp.version"] == 1 and not answers["fsdp.use_orig_params"]:
        yield (
            "fsdp.use_orig_params",
            "with false, the optimizer does not have the weights of the prepared model and would "
            "train nothing: use true.",
        )
    if policy == "SIZE_BASED_WRAP" and "tied" in traits:
        yield (
            "fsdp.auto_wrap_policy",
            "SIZE_BASED_WRAP wraps the embedding on its own, but the logits use its weights too: "
            "use TRANSFORMER_BASED_WRAP.",
        )
    named = classes or "layers" in traits  # the model of such a task names its layers
    if answers["fsdp.activation_checkpointing"] and policy != "TRANSFORMER_BASED_WRAP":
        yield (
            "fsdp.activation_checkpointing",
            "it works layer by layer: use fsdp.auto_wrap_policy=TRANSFORMER_BASED_WRAP.",
        )
    elif answers["fsdp.activation_checkpointing"] and not named:
        yield (
            "fsdp.activation_checkpointing",
            f"it works layer by layer: name the classes of the model's layers in {LAYERS}.",
        )
    if answers["fsdp.offload_params"] and answers[LAUNCHER] != "accelerate":
        yield (
            "fsdp.offload_params",
            "offloading to the CPU needs the gloo backend, which Accelerate starts only under "
            f"accelerate launch: use {LAUNCHER}=accelerate.",
        )
    if answers["training.optimizer"] == "adafactor":
        yield (
            "training.optimizer",
            "PyTorch's adafactor can't compute norms of sharded weights: use another optimizer.",
        )
    if answers["training.optimizer"] == "schedule_free":
        yield (
            "training.optimizer",
            "a sharded run with schedule_free does not resume exactly: use another optimizer.",
        )
    clipping = answers["features.clipping.enabled"] and answers["features.clipping.kind"]
    if clipping == "value":
        yield (
            "features.clipping.kind",
            "Accelerate can't clip single values of a sharded model: use norm or adaptive.",
        )


def _deepspeed_faults(
    answers: dict[str, Value], traits: Collection[str]
) -> Iterator[tuple[str, str]]:
    stage, file = answers["deepspeed.zero_stage"], answers["deepspeed.config_file"]
    if stage == 3 and not file and "tied" in traits and "transformers" not in traits:
        yield (
            "deepspeed.zero_stage",
            "DeepSpeed stage 3 trains this model but can't resume it: use 1 or 2, or "
            f"{SHARDING}=fsdp, which also shards the weights.",
        )
    if stage == 3 and not file and not answers["deepspeed.zero3_save_16bit_model"]:
        yield (
            "deepspeed.zero3_save_16bit_model",
            "without it, the final weights can't be gathered in stage 3: use true.",
        )
    if answers["training.optimizer"] in ("adafactor", "schedule_free"):
        yield (
            "training.optimizer",
            f"{answers['training.optimizer']} needs the shapes of weights or a way to swap them, "
            "which DeepSpeed's optimizer does not offer: use adamw, adam, sgd or lion.",
        )
    if answers["features.clipping.enabled"] and answers["features.clipping.kind"] != "norm":
        yield "features.clipping.kind", "DeepSpeed only clips by norm: use norm."


def _normalization_faults(
    answers: dict[str, Value], traits: Collection[str]
) -> Iterator[tuple[str, str]]:
    if "batch_norm" in traits and not answers["features.sync_batch_norm.enabled"]:
        yield (
            SHARDING,
            "with fsdp, each process keeps its own BatchNorm statistics and evaluates a different "
            "model: turn on features.sync_batch_norm, which synchronizes them.",
        )


def _parallelism_faults(answers: dict[str, Value]) -> Iterator[tuple[str, str]]:
    copies, shards, layers, texts = (int(answers[f"parallelism.{name}"]) for name in SIZES)
    if texts > 1 and answers[KIND] != "MULTI_GPU":
        yield (
            "parallelism.cp_size",
            "PyTorch's attention across several devices only works on NVIDIA and AMD GPUs: "
            f"use 1 with {KIND}={answers[KIND]}.",
        )
    if layers > 1 and answers["fsdp.cpu_ram_efficient_loading"]:
        yield (
            "fsdp.cpu_ram_efficient_loading",
            "with tensor parallelism, each group gets its weights from its first process, which "
            "must have loaded them: use false.",
        )
    sizes = copies, shards, layers, texts
    if prod(sizes) != answers[PROCESSES]:
        product = " x ".join(f"{name} {size}" for name, size in zip(SIZES, sizes, strict=True))
        yield (
            SHARDS,
            f"{product} is {prod(sizes)}, but {PROCESSES} is {answers[PROCESSES]}: "
            "the product must equal the number of processes.",
        )
    elif shards == texts == 1 < layers:
        yield (
            SHARDS,
            "with tensor parallelism, Accelerate needs FSDP to shard the model too: use 2 or more, "
            f"and {PROCESSES}={2 * prod(sizes)}.",
        )
    elif shards == texts == 1:
        yield SHARDS, "replicas that are not sharded don't need FSDP: use hardware.sharding=none."
    elif shards == 1 and copies > 1:
        yield (
            SHARDS,
            "Accelerate does not combine replicas with context parallelism alone: use 2 or more, "
            "or parallelism.dp_replicate_size=1.",
        )


def _launcher_faults(answers: dict[str, Value]) -> Iterator[tuple[str, str]]:
    kind, launcher = answers[KIND], answers[LAUNCHER]
    if launcher == "sagemaker" and (kind != "NO" or answers[CPU]):
        yield (
            LAUNCHER,
            f"sagemaker starts its own machines: use {KIND}=NO, and set "
            "sagemaker.distributed_type for several processes.",
        )
    if launcher == "sagemaker" and answers[PRECISION] == "fp8":
        yield PRECISION, "Accelerate can't start fp8 on SageMaker: use bf16, fp16 or no."
    clusters = ("slurm", "trainjob", "pytorchjob", "sagemaker")
    if launcher in clusters and answers["hardware.gpu_ids"] != "all":
        yield "hardware.gpu_ids", f"with {launcher}, the cluster chooses the devices: use all."
    if kind == "XLA" and launcher not in ("accelerate", "notebook"):
        yield LAUNCHER, f"{launcher} can't start TPU cores: use accelerate or notebook."
    if launcher == "notebook" and int(answers[MACHINES]) > 1:
        yield LAUNCHER, "a notebook only starts processes on one machine: use torchrun or slurm."
    if answers["hardware.mpirun_hostfile"] and kind == "MULTI_CPU" and launcher != "accelerate":
        yield LAUNCHER, "only accelerate starts mpirun: use accelerate, or no host file."
