"""What hardware answers mean for each other: what follows from them, and what can't work."""

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
KNOWN_LAYERS = ("language_model", "seq2seq", "text_classification")  # tasks whose model names them
SHARDS = "parallelism.dp_shard_size"
SIZES = ("dp_replicate_size", "dp_shard_size", "tp_size", "cp_size")


def complete(answers: dict[str, Value], given: Collection[str]) -> None:
    """Fill in what follows from the given answers, named by their keys.

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
    for key, reason in _faults(answers):
        raise AnswerError(key, reason)


def on_tpu_cluster(answers: Mapping[str, Value]) -> bool:
    """Whether several machines of one TPU train, which train.sh starts."""
    return answers[KIND] == "XLA" and bool(answers["tpu.tpu_use_cluster"])


def _grid(answers: dict[str, Value]) -> int:
    """The smallest number of processes that has all directions of the answers."""
    if not answers["parallelism.enabled"]:
        return 1
    copies, shards, layers, texts = (int(answers[f"parallelism.{name}"]) for name in SIZES)
    if shards == texts == 1 and max(copies, layers) > 1:
        shards = 2  # both need a split model
    return copies * shards * layers * texts


def _kind(answers: dict[str, Value], given: Collection[str]) -> Value:
    """The distributed type that the other answers ask for."""
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


def _faults(answers: dict[str, Value]) -> Iterator[tuple[str, str]]:
    """What can't work: the key of an answer, and why."""
    yield from _device_faults(answers)
    yield from _machine_faults(answers)
    yield from _precision_faults(answers)
    if answers[SHARDING] != "none" and not answers[CPU]:
        yield from _sharding_faults(answers)
    yield from _launcher_faults(answers)


def _device_faults(answers: dict[str, Value]) -> Iterator[tuple[str, str]]:
    kind, processes, cpu = answers[KIND], answers[PROCESSES], answers[CPU]
    if kind == "NO" and processes != 1:
        yield PROCESSES, f"{processes} processes need {KIND}=MULTI_GPU or MULTI_CPU, not NO."
    if kind == "MULTI_CPU" and not cpu:
        yield CPU, f"false contradicts {KIND}=MULTI_CPU."
    if kind not in ("NO", "MULTI_CPU") and cpu:
        yield CPU, f"true contradicts {KIND}={kind}: take MULTI_CPU instead."
    if on_tpu_cluster(answers):
        if answers["tpu.tpu_vm"]:
            yield (
                "tpu.tpu_vm",
                "torch_xla 2.9 connects the machines of one TPU alone, and others would each train "
                "for themselves: name that TPU in tpu.tpu_name, and leave this empty.",
            )
        if answers[LAUNCHER] == "notebook":
            yield LAUNCHER, "a notebook starts the TPU cores of one machine: take accelerate."
    if kind == "XLA" and answers["hardware.dynamo_backend"] != "no":
        yield "hardware.dynamo_backend", "has no effect on TPUs: XLA compiles by itself."


def _machine_faults(answers: dict[str, Value]) -> Iterator[tuple[str, str]]:
    machines, processes = int(answers[MACHINES]), int(answers[PROCESSES])
    if answers[KIND] in ("NO", "XLA"):
        return
    if processes % machines:
        yield (
            PROCESSES,
            f"{processes} processes can't be shared equally by {machines} machines: "
            f"it takes a multiple of {machines}.",
        )
    if int(answers["hardware.machine_rank"]) >= machines > 1:
        yield "hardware.machine_rank", f"it takes 0 to {machines - 1}: machines count from 0."


def _precision_faults(answers: dict[str, Value]) -> Iterator[tuple[str, str]]:
    precision = answers[PRECISION]
    if precision == "fp16" and answers[CPU]:
        yield (
            PRECISION,
            "'fp16' has no effect on the CPU, where Accelerate computes in 32 bits: "
            "take bf16 or no.",
        )
    if precision == "fp8" and answers[CPU]:
        yield PRECISION, "'fp8' needs a GPU that has it: take bf16 or no."
    if precision == "fp8" and answers[KIND] not in ("NO", "MULTI_GPU", "MULTI_HPU"):
        yield PRECISION, f"'fp8' needs NVIDIA or Gaudi devices, not {KIND}={answers[KIND]}."
    if precision != "no" and answers[KIND] == "XLA":
        yield PRECISION, "Accelerate sets no precision on TPUs: it takes no."
    msamp = precision == "fp8" and answers["fp8.backend"] == "msamp"
    if msamp and answers[SHARDING] != "none":
        yield "fp8.backend", "MS-AMP can't go with a model that is split: take ao or te."


def _sharding_faults(answers: dict[str, Value]) -> Iterator[tuple[str, str]]:
    kind, sharding = answers[KIND], answers[SHARDING]
    if kind in ("XLA", "MULTI_NEURON"):
        yield SHARDING, f"{sharding} does not run on {KIND}={kind}."
    if sharding == "fsdp" and kind == "NO":
        yield SHARDING, f"fsdp splits a model among several devices: take {KIND}=MULTI_GPU."
    if sharding == "fsdp":
        yield from _fsdp_faults(answers)
        yield from _normalisation_faults(answers)
    else:
        yield from _deepspeed_faults(answers)
    if sharding == "fsdp" and answers["parallelism.enabled"]:
        yield from _parallelism_faults(answers)


def _fsdp_faults(answers: dict[str, Value]) -> Iterator[tuple[str, str]]:
    policy, classes = answers["fsdp.auto_wrap_policy"], answers[LAYERS]
    if answers["fsdp.version"] == 2 and policy == "SIZE_BASED_WRAP":
        yield (
            "fsdp.auto_wrap_policy",
            "SIZE_BASED_WRAP cuts a model at its lists of layers, too, which version 2 can't do: "
            f"take TRANSFORMER_BASED_WRAP, and name classes in {LAYERS}.",
        )
    if answers["fsdp.version"] == 1 and not answers["fsdp.use_orig_params"]:
        yield (
            "fsdp.use_orig_params",
            "with false the weights of a prepared model are others than those that the optimizer "
            "got, which would train nothing: it takes true.",
        )
    if policy == "SIZE_BASED_WRAP" and answers["project.task"] == "language_model":
        yield (
            "fsdp.auto_wrap_policy",
            "SIZE_BASED_WRAP gives the embedding a unit of its own, but its weights are used again "
            "for the logits: take TRANSFORMER_BASED_WRAP.",
        )
    named = classes or answers["project.task"] in KNOWN_LAYERS
    if answers["fsdp.activation_checkpointing"] and policy != "TRANSFORMER_BASED_WRAP":
        yield (
            "fsdp.activation_checkpointing",
            "it goes by layers: take fsdp.auto_wrap_policy=TRANSFORMER_BASED_WRAP.",
        )
    elif answers["fsdp.activation_checkpointing"] and not named:
        yield (
            "fsdp.activation_checkpointing",
            f"it goes by layers, and this task knows none: name their classes in {LAYERS}.",
        )
    if answers["fsdp.offload_params"] and answers[LAUNCHER] != "accelerate":
        yield (
            "fsdp.offload_params",
            "what waits in the CPU's memory is exchanged by gloo, which Accelerate starts only "
            f"under accelerate launch: take {LAUNCHER}=accelerate.",
        )
    if answers["training.optimizer"] == "adafactor":
        yield (
            "training.optimizer",
            "PyTorch's adafactor can't take the norms of weights that are split: take another.",
        )
    if answers["training.optimizer"] == "schedule_free":
        yield (
            "training.optimizer",
            "a run of a split model with schedule_free does not resume exactly: take another.",
        )
    clipping = answers["features.clipping.enabled"] and answers["features.clipping.kind"]
    if clipping == "value":
        yield (
            "features.clipping.kind",
            "Accelerate clips no single values of a model that is split: take norm or adaptive.",
        )


def _deepspeed_faults(answers: dict[str, Value]) -> Iterator[tuple[str, str]]:
    stage, file = answers["deepspeed.zero_stage"], answers["deepspeed.config_file"]
    gpt = answers["project.task"] == "language_model" and answers["language_model.model"] == "gpt"
    if stage == 3 and not file and gpt:
        yield (
            "deepspeed.zero_stage",
            "in stage 3 DeepSpeed trains this model, but can't resume it: take 1 or 2, or "
            f"{SHARDING}=fsdp, which splits the weights, too.",
        )
    if stage == 3 and not file and not answers["deepspeed.zero3_save_16bit_model"]:
        yield (
            "deepspeed.zero3_save_16bit_model",
            "without it the final weights can't be put together in stage 3: it takes true.",
        )
    if answers["training.optimizer"] in ("adafactor", "schedule_free"):
        yield (
            "training.optimizer",
            f"{answers['training.optimizer']} needs the shapes of weights or a way to swap them, "
            "which DeepSpeed's optimizer has not: take adamw, adam, sgd or lion.",
        )
    if answers["features.clipping.enabled"] and answers["features.clipping.kind"] != "norm":
        yield "features.clipping.kind", "DeepSpeed clips by the norm alone: take norm."
    elif answers["features.clipping.enabled"] and answers["features.clipping.log_norm"]:
        yield (
            "features.clipping.log_norm",
            "DeepSpeed knows the norm only after the update: it takes false.",
        )


def _normalisation_faults(answers: dict[str, Value]) -> Iterator[tuple[str, str]]:
    images = answers["project.task"] == "image_classification"
    backbone = images and answers["image_classification.model"] in ("timm", "torchvision")
    if backbone and not answers["features.sync_batch_norm.enabled"]:
        yield (
            SHARDING,
            "with fsdp each process keeps its own statistics of BatchNorm, and evaluates another "
            "model: turn features.sync_batch_norm on, which makes them the same.",
        )


def _parallelism_faults(answers: dict[str, Value]) -> Iterator[tuple[str, str]]:
    copies, shards, layers, texts = (int(answers[f"parallelism.{name}"]) for name in SIZES)
    if texts > 1 and answers[KIND] != "MULTI_GPU":
        yield (
            "parallelism.cp_size",
            "PyTorch's attention over several devices knows the kernels of NVIDIA and AMD alone: "
            f"it takes 1 with {KIND}={answers[KIND]}.",
        )
    if layers > 1 and answers["fsdp.cpu_ram_efficient_loading"]:
        yield (
            "fsdp.cpu_ram_efficient_loading",
            "each group that shares layers gets the weights from its first process, which must "
            "have loaded them: it takes false.",
        )
    sizes = copies, shards, layers, texts
    if prod(sizes) != answers[PROCESSES]:
        product = " x ".join(f"{name} {size}" for name, size in zip(SIZES, sizes, strict=True))
        yield (
            SHARDS,
            f"{product} is {prod(sizes)}, but {PROCESSES} is {answers[PROCESSES]}: "
            "the product must be the number of processes.",
        )
    elif shards == texts == 1 < layers:
        yield (
            SHARDS,
            "beside shared layers, Accelerate has FSDP split the model, too: take 2 or more, "
            f"and {PROCESSES}={2 * prod(sizes)}.",
        )
    elif shards == texts == 1:
        yield SHARDS, "copies that are not split need no FSDP: take hardware.sharding=none."
    elif shards == 1 and copies > 1:
        yield (
            SHARDS,
            "Accelerate makes no copies of a model whose only parts are those of its texts: it "
            "takes 2 or more, or parallelism.dp_replicate_size=1.",
        )


def _launcher_faults(answers: dict[str, Value]) -> Iterator[tuple[str, str]]:
    kind, launcher = answers[KIND], answers[LAUNCHER]
    if launcher == "sagemaker" and (kind != "NO" or answers[CPU]):
        yield (
            LAUNCHER,
            f"sagemaker brings its own machines: take {KIND}=NO, and say in "
            "sagemaker.distributed_type whether there are several processes.",
        )
    if launcher == "sagemaker" and answers[PRECISION] == "fp8":
        yield PRECISION, "Accelerate starts no fp8 on SageMaker: take bf16, fp16 or no."
    clusters = ("slurm", "trainjob", "pytorchjob", "sagemaker")
    if launcher in clusters and answers["hardware.gpu_ids"] != "all":
        yield "hardware.gpu_ids", f"the cluster chooses the devices with {launcher}: it takes all."
    if kind == "XLA" and launcher not in ("accelerate", "notebook"):
        yield LAUNCHER, f"{launcher} does not start TPU cores: take accelerate or notebook."
    if launcher == "notebook" and int(answers[MACHINES]) > 1:
        yield LAUNCHER, "a notebook starts the processes of one machine: take torchrun or slurm."
    if answers["hardware.mpirun_hostfile"] and kind == "MULTI_CPU" and launcher != "accelerate":
        yield LAUNCHER, "mpirun is started by accelerate: take accelerate, or no host file."
